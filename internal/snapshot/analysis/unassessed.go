package analysis

import (
	"slices"

	"muster/internal/snapshot"
)

// ToAssess is what is to be done, in order, for the checks of an instance to have answers;
// none where they have, or where nothing can be done.
func ToAssess(doc snapshot.Document, in *snapshot.Instance) []string {
	if WhyNotChecked(in) == "" {
		return nil
	}
	checks := 0
	for _, c := range doc.Checks {
		if c.Engine == in.Engine {
			checks++
		}
	}
	switch {
	case in.Engine == "", checks == 0: // gone, or an engine that the catalogue does not know
		return nil
	case in.Assessment != nil:
		return append(toReach(in.Engine, in.Assessment.ErrorClass), "Let Muster assess it at once: the instance's page, Assess now. Without that it tries again by itself.")
	case !in.Active:
		return []string{"Make the instance active if it still serves anybody, or remove it: an inactive one is counted and not assessed."}
	case in.Collected:
		return []string{"Let Muster assess it: the instance's page, Assess now."}
	}
	return append(slices.Clone(toLookWith[in.Engine]),
		"Register the connection on the instance's page: Muster then runs "+Plural(checks, "check", "checks")+" at once and every 6 hours, each read-only.",
		"Or let another tool send what it found, with a token for it: POST /ingest/v1/assessments.")
}

// toLookWith makes the account that Muster assesses an engine with.
var toLookWith = map[string][]string{
	"postgresql": {
		"Create a role to look with, as a superuser in psql: CREATE ROLE muster LOGIN; GRANT pg_monitor TO muster; then \\password muster",
		"Let it in from Muster's address over TLS: a hostssl line of pg_hba.conf with scram-sha-256, then SELECT pg_reload_conf();",
	},
	"sqlserver": {
		"Create a login to look with, as a member of sysadmin: muster agent grants --engine sqlserver prints the statements, and so does the page that adds an instance.",
		"Let it in from Muster's address: TCP/IP switched on, logins of SQL Server accepted (mixed mode), and a certificate that Muster's machine trusts.",
	},
	"oracle": {
		"Create an account to look with, as an administrator: muster agent grants --engine oracle prints the statements, and so does the page that adds an instance.",
		"Let it in from Muster's address: the listener's port, and the service of the pluggable database or of the root.",
	},
}

// toReach is what an error of a connection asks for.
func toReach(engine, class string) []string {
	switch {
	case class == "authentication" && engine == "postgresql":
		return []string{"Give the connection a role and a password that the server accepts, and pg_hba.conf a line for it."}
	case class == "authentication":
		return []string{"Give the connection an account and a password that the server accepts: neither locked, nor expired, nor disabled."}
	case class == "tls" && engine == "postgresql":
		return []string{"Make the server's certificate one that the connection trusts, or the connection one that the server accepts: sslmode and sslrootcert say which."}
	case class == "tls" && engine == "sqlserver":
		return []string{"Make the server's certificate one that the connection trusts, or the connection one that the server accepts: encrypt, hostNameInCertificate and trustServerCertificate say which."}
	case class == "tls":
		return []string{"Make the server's certificate one that the connection trusts, or the connection one that the server accepts: sslmode says which, and the port is one where the listener has TLS."}
	case class == "database" && engine == "oracle":
		return []string{"Name a service or a SID in the connection that the listener knows, of a database that is open to the account."}
	case class == "database":
		return []string{"Name a database in the connection that is there and that the role may connect to."}
	case class == "not_allowed":
		return []string{"Register an address that this installation connects to, or have its operator allow that network (MUSTER_TARGET_NETWORKS)."}
	case class == "refused", class == "timeout":
		return []string{"See that the server runs, listens at the registered address and port, and that nothing between Muster and it drops the connection."}
	}
	return []string{"See why the connection fails: the instance's page says it."}
}
