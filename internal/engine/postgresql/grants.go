package postgresql

import (
	"regexp"
	"strings"

	"muster/internal/engine/trait"
)

var grants = trait.Grants{
	Runner:      "in psql as a superuser",
	NameObjects: true,
	Rules: []trait.GrantRule{
		{Words: []string{"pg_authid"}, Optional: true, Reveals: "the hashes of all passwords"},
		{Words: []string{"pg_user_mapping"}, Optional: true, Reveals: "the options of user mappings, among them passwords for foreign servers"},
		{Words: []string{" SEQUENCE"}, Optional: true, Reveals: "the last values of these sequences"},
		{Words: []string{"pg_read_all_data"}, Optional: true, Reveals: "every table, that with the hashes of passwords too"},
		{Words: []string{"pg_read_all_settings"}, Reveals: "all settings, among them primary_conninfo, which may hold a password"},
		{Words: []string{"pg_file_settings", "pg_show_all_file_settings"}, Reveals: "the lines of the configuration files; primary_conninfo may hold a password"},
		{Words: []string{"pg_hba_file_rules"}, Reveals: "the rules of pg_hba.conf: who may sign in, from where and how"},
		{Words: []string{"pg_read_all_stats", "pg_monitor"}, Measures: true, Reveals: "the sessions of others and the texts of their statements, with the values in them"},
		{Words: []string{"pg_stat_statements"}},
	},
	Measuring: []trait.MeasuringGrant{
		{Object: regexp.MustCompile(`^what members of pg_read_all_stats see$`), Statement: trait.Always("GRANT pg_read_all_stats TO " + trait.Account + ";")},
		{Object: regexp.MustCompile(`^extension pg_stat_statements(, |$)`), Statement: trait.Always("CREATE EXTENSION pg_stat_statements;")},
		{Object: regexp.MustCompile(`(?s)^pg_stat_statements in database .`), Statement: trait.Always(`DO $grants$ DECLARE reads regprocedure; BEGIN FOR reads IN
  SELECT d.objid FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
      WHERE e.extname = 'pg_stat_statements' AND d.classid = 'pg_proc'::regclass
      AND (SELECT proname FROM pg_proc WHERE oid = d.objid) IN ('pg_stat_statements', 'pg_stat_statements_info') LOOP
  EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ` + trait.Account + `', reads); END LOOP; END $grants$;`)},
		{Object: regexp.MustCompile(`(?s)^schema .+ in database .`), Statement: trait.Always(`DO $grants$ DECLARE holds regnamespace; BEGIN FOR holds IN
  SELECT extnamespace FROM pg_extension WHERE extname = 'pg_stat_statements' LOOP
  EXECUTE format('GRANT USAGE ON SCHEMA %s TO ` + trait.Account + `', holds); END LOOP; END $grants$;`)},
	},
	Lead: lead,
	Own:  own,
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_.]+$`)

// lead is psql's \connect, quoted as pg_dump does.
func lead(database string, _ []string) string {
	if plain.MatchString(database) {
		return `\connect ` + `"` + database + `"`
	}
	value := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(database)
	return `\connect -reuse-previous=on "dbname='` + strings.ReplaceAll(value, `"`, `""`) + `'"`
}

func own(subject string) string {
	if strings.HasPrefix(subject, "schema ") {
		return "the schema of pg_stat_statements"
	}
	return subject
}
