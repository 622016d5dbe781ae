package snapshottest

import "muster/internal/snapshot"

// checks is a slice of the catalogue wide enough for every domain, scope and
// severity.
func checks() []snapshot.Check {
	list := []snapshot.Check{
		check("PG-S01", "Security", "Critical", "instance", "HBA rule lets users in without a password (trust)", "No HBA rule lets users in without a password",
			"Anyone who reaches the port is let in as any role the rule names, superusers included.",
			"no rule uses trust", "Replace trust by scram-sha-256 (or peer for local administration) and reload.",
			"A role without a SCRAM password cannot sign in by this rule afterwards.", "S", false, "CIS PostgreSQL §5.3", "docs: auth-pg-hba-conf"),
		check("PG-S02", "Security", "High", "instance", "HBA rule allows a weak password method", "No HBA rule allows a weak password method",
			"password sends it in clear, md5 hashes can be replayed.", "no rule uses password or md5",
			"Move accounts to SCRAM, then change the rule to scram-sha-256.", "", "M", false, "CIS PostgreSQL §5.4"),
		check("PG-S04", "Security", "High", "instance", "Remote TCP rule accepts unencrypted sessions", "Remote TCP rules accept encrypted sessions only",
			"Credentials and data cross the network in clear.", "only hostssl rules for remote addresses",
			"Use hostssl and set ssl=on.", "Clients that do not speak TLS are refused.", "M", false, "CIS PostgreSQL §6.8"),
		check("PG-S05", "Security", "High", "instance", "Superusers may log in from remote addresses", "Superusers cannot log in from remote addresses",
			"A stolen superuser password is then enough to take the server from afar.", "no remote rule matches a superuser",
			"Add a reject rule for superusers above the remote rules.", "", "S", false, "CIS PostgreSQL §5.2"),
		check("PG-S07", "Security", "High", "instance", "TLS is off", "TLS is on", "Every remote session is readable on the network.",
			"ssl = on", "Use hostssl and set ssl=on.", "Clients that do not speak TLS are refused.", "M", false, "CIS PostgreSQL §6.8"),
		check("PG-S11", "Security", "High", "instance", "Roles whose stored password is MD5", "No role has a password stored as MD5",
			"MD5 password hashes can be used to sign in without cracking them.", "no md5 hash",
			"Ask each owner to set the password again under SCRAM.", "", "M", false, "docs: auth-password"),
		check("PG-S12", "Security", "Medium", "instance", "Login role with no expiry for its password", "Login roles have an expiry for their passwords",
			"A leaked password stays valid for ever.", "every login role has VALID UNTIL",
			"Set VALID UNTIL, or record an exception for service roles.", "", "S", false),
		check("PG-S17", "Security", "High", "database", "PUBLIC may create objects in schema public", "PUBLIC cannot create objects in schema public",
			"Any role can plant functions that others then run.", "no CREATE for PUBLIC",
			"Revoke CREATE on schema public from PUBLIC.", "A role that creates objects in the schema needs a grant of its own.", "S", false, "CVE-2018-1058"),
		check("PG-S18", "Security", "High", "database", "Tables readable or writable by PUBLIC", "No table is readable or writable by PUBLIC",
			"Every role of the server reads or changes these rows.", "no grant to PUBLIC on a table",
			"Revoke the grants from PUBLIC and grant to the roles that need them.", "A role without a grant of its own no longer sees the rows.", "M", false, "CIS PostgreSQL §4.5"),
		check("PG-S25", "Security", "Medium", "instance", "Connection logging is off", "Connection logging is on",
			"Without it nobody can say who was connected when.", "log_connections = on",
			"Set log_connections=on and reload.", "The log gains some lines for each connection.", "S", false),
		check("PG-S26", "Security", "Low", "instance", "Disconnection logging is off", "Disconnection logging is on", "Session lengths cannot be told.",
			"log_disconnections = on", "Set log_disconnections=on and reload.", "", "S", false),
		check("PG-S31", "Security", "High", "instance", "Minor version has known vulnerabilities", "The minor version has no known vulnerabilities",
			"Fixes exist and are public; so are the holes.", "no open CVE for this version",
			"Install the latest minor release and restart.", "", "M", true, "postgresql.org/support/security"),
		check("PG-F03", "Configuration", "Medium", "instance", "Data checksums are off", "Data checksums are on",
			"Silent corruption of a page goes unnoticed.", "data_checksums = on", "Run pg_checksums --enable while stopped.", "", "L", true),
		check("PG-F08", "Configuration", "Low", "instance", "idle_in_transaction_session_timeout not set", "idle_in_transaction_session_timeout is set",
			"A forgotten transaction holds locks and blocks vacuum.", "> 0", "Set idle_in_transaction_session_timeout.", "", "S", false),
		check("PG-C02", "Schema", "Medium", "database", "Tables without a primary key", "Every table has a primary key",
			"Rows cannot be told apart; logical replication refuses updates.", "every table has one",
			"Add a primary key.", "", "M", false),
		check("PG-M02", "Maintenance", "Medium", "database", "Tables with many dead rows", "No table has many dead rows",
			"Scans read rows that no longer exist.", "dead rows < 20 %", "Vacuum, then tune autovacuum for the table.", "The table is read; reads and writes go on meanwhile.", "S", false),
		check("PG-P02", "Performance", "Medium", "instance", "Connections above 80% of max_connections", "Connections are at most 80 % of max_connections",
			"New clients are refused once it is full.", "< 80 %", "Use a pooler, or raise max_connections.", "", "M", true),
	}
	return list
}

func check(id, domain, severity, scope, title, passed, why, pass, fix, impact, effort string, restart bool, refs ...string) snapshot.Check {
	return snapshot.Check{
		ID: id, Engine: "postgresql", Domain: domain, Severity: severity, Scope: scope, Title: title, Passed: passed, Rationale: why,
		Pass: pass, Remediation: fix, Impact: impact, Effort: effort, NeedsRestart: restart, References: refs,
	}
}

func vulnerabilities() []snapshot.Vulnerability {
	return []snapshot.Vulnerability{
		{ID: "CVE-2023-39417", CVSS: 8.8, Vector: "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H", Title: "Extension script @substitutions@ within quoting allow SQL injection", Component: "extension scripts", FixedIn: []string{"11.21", "12.16", "13.12", "14.9", "15.4"}, Source: "postgresql.org"},
		{ID: "CVE-2024-10979", CVSS: 8.8, Vector: "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H", Title: "PL/Perl environment variable changes execute arbitrary code", Component: "plperl", FixedIn: []string{"12.21", "13.17", "14.14", "15.9", "16.5", "17.1"}, Source: "postgresql.org"},
		{ID: "CVE-2024-7348", CVSS: 7.5, Vector: "CVSS:3.1/AV:N/AC:H/PR:L/UI:N/S:U/C:H/I:H/A:H", Title: "Relation replacement during pg_dump executes arbitrary SQL", Component: "pg_dump", FixedIn: []string{"12.20", "13.16", "14.13", "15.8", "16.4"}, Source: "postgresql.org"},
		{ID: "CVE-2023-5868", CVSS: 4.3, Vector: "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:L/I:N/A:N", Title: "Memory disclosure in aggregate function calls", Component: "core server", FixedIn: []string{"11.22", "12.17", "13.13", "14.10", "15.5", "16.1"}, Source: "postgresql.org"},
		{ID: "CVE-2023-2454", CVSS: 7.2, Vector: "CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H", Title: "CREATE SCHEMA … schema_element defeats protective search_path changes", Component: "core server", FixedIn: []string{"11.20", "12.15", "13.11", "14.8", "15.3"}, Source: "postgresql.org"},
		{ID: "CVE-2022-2625", CVSS: 8.0, Vector: "CVSS:3.1/AV:N/AC:L/PR:L/UI:R/S:U/C:H/I:H/A:H", Title: "Extension scripts replace objects not belonging to the extension", Component: "extension scripts", FixedIn: []string{"10.22", "11.17", "12.12", "13.8", "14.5"}, Source: "postgresql.org"},
	}
}

// fix is the statement of one finding, as an assessment would have built it.
func fix(check, database, object string) *snapshot.Fix {
	switch check {
	case "PG-S17":
		return &snapshot.Fix{Database: database, Statement: "REVOKE CREATE ON SCHEMA public FROM PUBLIC;"}
	case "PG-S25":
		return &snapshot.Fix{Statement: "ALTER SYSTEM SET log_connections = on;\nSELECT pg_reload_conf();"}
	case "PG-M02":
		return &snapshot.Fix{Database: database, Statement: "VACUUM (ANALYZE) " + object + ";"}
	default:
		return nil
	}
}
