package grants

import (
	"regexp"
	"slices"
	"strings"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/sqlserver"
	"muster/internal/servers"
	"muster/internal/snapshot"
)

// account is who the statements of Stated are for: the account that the scripts of
// `muster agent grants` make.
const account = "muster"

// Stated are the grants of objects that an agent reported, with the statement of Muster's own
// lists beside each: none of an object that no list has. No text of a machine is in a statement.
// A database that the object names is where the statement is to be run, and no part of it.
func Stated(engine fleet.Engine, version string, checks *catalogue.Catalogue, objects []string) []snapshot.MissingGrant {
	out := make([]snapshot.MissingGrant, len(objects))
	rest := map[string]string{} // the statements of checks, by subject
	for i, object := range objects {
		out[i].Object = object
		known := slices.IndexFunc(measured[engine], func(m measuring) bool { return m.object.MatchString(object) })
		if known >= 0 {
			out[i].Statement = measured[engine][known].statement(object, version)
			continue
		}
		subject, _ := within(object)
		rest[subject] = ""
	}
	if len(rest) == 0 {
		return out
	}
	for _, check := range checks.Of(engine) {
		readBy(engine, version, check, func(object, statement string) {
			if before, asked := rest[object]; asked && before == "" {
				rest[object] = statement
			}
		})
	}
	for i := range out {
		if subject, _ := within(out[i].Object); out[i].Statement == "" {
			out[i].Statement = rest[subject]
		}
	}
	return out
}

// readBy are the objects that a check reads, and what lets it read each.
func readBy(engine fleet.Engine, version string, check catalogue.Check, yield func(object, statement string)) {
	if engine == fleet.PostgreSQL {
		for _, read := range check.Reads {
			yield(read.Denied(), read.Grant(account))
		}
		return
	}
	for _, right := range check.LeastRights() {
		switch engine {
		case fleet.SQLServer:
			yield(right, sqlserver.Grant(right, version, account))
		case fleet.Oracle:
			if view, ok := strings.CutPrefix(right, "SELECT on "); ok {
				yield(right, "GRANT SELECT ON "+view+" TO "+account+";")
			}
		}
	}
}

// measuring is an object that the collectors of measurements name where they may not read it,
// and what lets them.
type measuring struct {
	object    *regexp.Regexp
	statement func(object, version string) string
}

func always(statement string) func(object, version string) string {
	return func(string, string) string { return statement }
}

// measured are the objects of the collectors (internal/intake/measure), by engine.
var measured = map[fleet.Engine][]measuring{
	fleet.PostgreSQL: {
		{regexp.MustCompile(`^what members of pg_read_all_stats see$`), always("GRANT pg_read_all_stats TO " + account + ";")},
		{regexp.MustCompile(`^extension pg_stat_statements(, |$)`), always("CREATE EXTENSION pg_stat_statements;")},
		{regexp.MustCompile(`(?s)^pg_stat_statements in database .`), always(`DO $grants$ DECLARE reads regprocedure; BEGIN FOR reads IN
  SELECT d.objid FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
      WHERE e.extname = 'pg_stat_statements' AND d.classid = 'pg_proc'::regclass
      AND (SELECT proname FROM pg_proc WHERE oid = d.objid) IN ('pg_stat_statements', 'pg_stat_statements_info') LOOP
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ` + account + `', reads); END LOOP; END $grants$;`)},
		{regexp.MustCompile(`(?s)^schema .+ in database .`), always(`DO $grants$ DECLARE holds regnamespace; BEGIN FOR holds IN
  SELECT extnamespace FROM pg_extension WHERE extname = 'pg_stat_statements' LOOP
  EXECUTE format('GRANT USAGE ON SCHEMA %s TO ` + account + `', holds); END LOOP; END $grants$;`)},
	},
	fleet.SQLServer: {
		{regexp.MustCompile(`^sessions, and statements in the plan cache$`), func(_, version string) string {
			switch sets := servers.SQLServerPermissions(version); {
			case slices.Equal(sets, []string{"2016"}):
				return "GRANT VIEW SERVER STATE TO [" + account + "];"
			case slices.Equal(sets, []string{"2022"}):
				return "GRANT VIEW SERVER PERFORMANCE STATE TO [" + account + "];"
			}
			return "" // which permission it is depends on the version
		}},
		{regexp.MustCompile(`(?s)^the query store of .`), func(_, version string) string {
			if len(servers.SQLServerPermissions(version)) != 1 { // Azure SQL Database does not have it
				return ""
			}
			return "GRANT CONNECT ANY DATABASE TO [" + account + "];"
		}},
	},
	fleet.Oracle: {
		{regexp.MustCompile(`^G?V\$(INSTANCE|CONTAINERS|SESSION|SQLSTATS_PLAN_HASH|SQL|CON_SYS_TIME_MODEL|ACTIVE_INSTANCES)$`), func(view, _ string) string {
			return "GRANT SELECT ON SYS." + strings.Replace(view, "V$", "V_$", 1) + " TO " + account + ";"
		}},
		{regexp.MustCompile(`^the pluggable databases$`), always("ALTER USER c##" + account + " SET CONTAINER_DATA = ALL CONTAINER = CURRENT;")},
	},
}

// AgentScript has the grants of Stated as one script. It names neither the server nor a
// database: their names came from machines.
func AgentScript(engine fleet.Engine, all []Advice) string {
	here := slices.Clone(all)
	for i := range here {
		if here[i].Subject == here[i].Object { // it names no database, or its statement leads to one
			continue
		}
		if here[i].Statement != "" {
			here[i].Statement = "-- In each database that lacks it:\n" + here[i].Statement
		}
		here[i].Database, here[i].Subject = "", subjectOf(engine, here[i])
	}
	return Script(engine, "the server", here)
}

// subjectOf is a subject as a comment of AgentScript names it: objects that have no statement
// are not in a script, and those that have one are the lists' own but for the name of a schema.
func subjectOf(engine fleet.Engine, a Advice) string {
	if engine == fleet.PostgreSQL && strings.HasPrefix(a.Subject, "schema ") {
		return "the schema of pg_stat_statements"
	}
	return a.Subject
}
