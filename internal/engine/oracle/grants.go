package oracle

import (
	"regexp"
	"strings"

	"muster/internal/engine/trait"
)

var grants = trait.Grants{
	Runner: "as an administrator",
	Rules: []trait.GrantRule{
		{Words: []string{"ANY TABLE"}, Optional: true, Reveals: "every table"},
		{Words: []string{"V_$SQL", "V_$SESSION"}, Measures: true, Reveals: "the sessions of others and the texts of their statements"},
		{Words: []string{"V_$INSTANCE", "V_$CONTAINERS", "V_$ACTIVE_INSTANCES", "V_$CON_SYS_TIME_MODEL", "V_$DATAGUARD_STATS", "V_$ARCHIVE_DEST_STATUS", "V_$RMAN_BACKUP_JOB_DETAILS"}, Measures: true},
		{Words: []string{"V_$TRANSACTION", "V_$SYSSTAT", "V_$SORT_SEGMENT", "V_$PARAMETER"}, Optional: true},
		{Words: []string{"DBA_USERS_WITH_DEFPWD"}, Reveals: "which accounts have the password that they came with"},
	},
	Measuring: []trait.MeasuringGrant{
		{Object: regexp.MustCompile(`^G?V\$(INSTANCE|CONTAINERS|SESSION|SQLSTATS_PLAN_HASH|SQL|CON_SYS_TIME_MODEL|CON_SYSSTAT|ACTIVE_INSTANCES|TRANSACTION|SYSSTAT|SORT_SEGMENT|PARAMETER|DATABASE|DATAGUARD_STATS|ARCHIVE_DEST_STATUS|RMAN_BACKUP_JOB_DETAILS)$`), Statement: func(view, _ string) string {
			return "GRANT SELECT ON SYS." + strings.Replace(view, "V$", "V_$", 1) + " TO " + trait.Account + ";"
		}},
		{Object: regexp.MustCompile(`^the pluggable databases$`), Statement: trait.Always("ALTER USER c##" + trait.Account + " SET CONTAINER_DATA = ALL CONTAINER = CURRENT;")},
	},
	Statement: func(right, _ string) string {
		view, ok := strings.CutPrefix(right, "SELECT on ")
		if !ok {
			return ""
		}
		return "GRANT SELECT ON " + view + " TO " + trait.Account + ";"
	},
}
