package analysis

import (
	"slices"

	"muster/internal/engine"
	"muster/internal/report/snapshot"
)

// ToAssess lists the steps, in order, for the checks of an instance to have answers; none if
// they have them, or if no step helps.
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
	return append(slices.Clone(engine.ConnectedOf(in.Engine).Account),
		"Register the connection on the instance's page: Muster then runs "+Plural(checks, "check", "checks")+" at once and every 6 hours, each read-only.",
		"Or let another tool send what it found, with a token for it: POST /ingest/v1/assessments.")
}

// toReach is what an error of a connection asks for.
func toReach(name, class string) []string {
	if words, ok := engine.ConnectedOf(name).Mends[class]; ok {
		return []string{words}
	}
	switch class {
	case "authentication":
		return []string{"Give the connection an account and a password that the server accepts: neither locked, nor expired, nor disabled."}
	case "tls":
		return []string{"Make the server's certificate one that the connection trusts, or the connection one that the server accepts."}
	case "database":
		return []string{"Name a database in the connection that is there and that the role may connect to."}
	case "not_allowed":
		return []string{"Register an address that this installation connects to, or have its operator allow that network (MUSTER_TARGET_NETWORKS)."}
	case "refused", "timeout":
		return []string{"See that the server runs, listens at the registered address and port, and that nothing between Muster and it drops the connection."}
	}
	return []string{"See why the connection fails: the instance's page says it."}
}
