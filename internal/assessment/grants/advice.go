package grants

import (
	"regexp"
	"slices"
	"strings"

	"muster/domain/fleet"
	"muster/internal/snapshot"
)

// Advice is a missing grant with what a person needs to decide about it.
type Advice struct {
	Object     string // as snapshot.MissingGrant has it
	Subject    string // the object without its database
	Statement  string // empty: none can be stated
	Database   string // in which the statement is to be run; empty: any
	Needed     bool
	Reveals    string // to whoever holds it; empty: nothing worth a warning
	Declinable bool
	Declined   bool
	Checks     []string
}

// rule judges the grants whose subject or statement has one of these words in it.
type rule struct {
	words    []string
	optional bool
	measures bool // without it there is no measuring: it cannot be declined
	reveals  string
}

// rules by engine; the first that fits counts.
var rules = map[fleet.Engine][]rule{
	fleet.PostgreSQL: {
		{words: []string{"pg_authid"}, optional: true, reveals: "the hashes of all passwords"},
		{words: []string{"pg_user_mapping"}, optional: true, reveals: "the options of user mappings, among them passwords for foreign servers"},
		{words: []string{" SEQUENCE"}, optional: true, reveals: "the last values of these sequences"},
		{words: []string{"pg_read_all_data"}, optional: true, reveals: "every table, that with the hashes of passwords too"},
		{words: []string{"pg_read_all_settings"}, reveals: "all settings, among them primary_conninfo, which may hold a password"},
		{words: []string{"pg_file_settings", "pg_show_all_file_settings"}, reveals: "the lines of the configuration files; primary_conninfo may hold a password"},
		{words: []string{"pg_hba_file_rules"}, reveals: "the rules of pg_hba.conf: who may sign in, from where and how"},
		{words: []string{"pg_read_all_stats", "pg_monitor"}, measures: true, reveals: "the sessions of others and the texts of their statements, with the values in them"},
		{words: []string{"pg_stat_statements"}},
	},
	fleet.SQLServer: {
		{words: []string{"CRYPTOGRAPHICALLY"}, optional: true, reveals: "the hashes of the logins' passwords"},
		{words: []string{"SENSITIVITY CLASSIFICATION"}, optional: true, reveals: "the labels that owners gave columns"},
		{words: []string{"ALL USER SECURABLES"}, optional: true, reveals: "every table"},
		{words: []string{"SECURITY STATE"}, reveals: "who is signed in, and how connections are encrypted"},
		{words: []string{"SERVER STATE", "DATABASE STATE", "PERFORMANCE STATE"}, measures: true, reveals: "the sessions of others and the texts of their statements, with the values in them"},
		{words: []string{"CONNECT ANY DATABASE"}, reveals: "what every user of a database may see"},
		{words: []string{"VIEW ANY DEFINITION", "VIEW DEFINITION"}, reveals: "the definitions of all objects, and no data"},
		{words: []string{"sysproxylogin", "sysproxies"}, reveals: "which logins may use which proxies of the Agent"},
	},
	fleet.Oracle: {
		{words: []string{"ANY TABLE"}, optional: true, reveals: "every table"},
		{words: []string{"V_$SQL", "V_$SESSION"}, measures: true, reveals: "the sessions of others and the texts of their statements"},
		{words: []string{"V_$INSTANCE", "V_$CONTAINERS", "V_$ACTIVE_INSTANCES", "V_$CON_SYS_TIME_MODEL"}, measures: true},
		{words: []string{"DBA_USERS_WITH_DEFPWD"}, reveals: "which accounts have the password that they came with"},
	},
}

// sequences are counted in the object of a grant; another one next week is the same grant.
var counted = regexp.MustCompile(`^[0-9]+ (sequences of schema )`)

var used = regexp.MustCompile(`^USE ([A-Za-z_]+); `)

// Of says what a missing grant is about.
func Of(engine fleet.Engine, g snapshot.MissingGrant) Advice {
	a := Advice{Object: g.Object, Statement: strings.TrimSpace(g.Statement), Needed: true, Declinable: true, Checks: g.Checks}
	a.Subject, a.Database = within(a.Object)
	a.Subject = counted.ReplaceAllString(a.Subject, "$1")
	if m := used.FindStringSubmatch(a.Statement); m != nil && engine == fleet.SQLServer {
		a.Database = m[1]
	}
	for _, r := range rules[engine] {
		if !slices.ContainsFunc(r.words, func(word string) bool {
			return strings.Contains(a.Subject, word) || strings.Contains(a.Statement, word)
		}) {
			continue
		}
		a.Needed, a.Declinable, a.Reveals = !r.optional, !r.measures, r.reveals
		break
	}
	return a
}

// within splits an object into its subject and its database, which is empty where it names none.
func within(object string) (subject, database string) {
	const in = " in database "
	if i := strings.LastIndex(object, in); i >= 0 {
		return object[:i], object[i+len(in):]
	}
	return object, ""
}

// All judges a list of grants, with what the organization has declined of them.
func All(engine fleet.Engine, missing []snapshot.MissingGrant, declined []string) []Advice {
	out := make([]Advice, len(missing))
	for i, g := range missing {
		out[i] = Of(engine, g)
		out[i].Declined = out[i].Declinable && out[i].declinedBy(declined)
	}
	return out
}

// declinedBy says whether a list names the grant, or its subject in all databases.
func (a Advice) declinedBy(objects []string) bool {
	return slices.ContainsFunc(objects, func(object string) bool {
		return object == a.Object || object == a.Subject || counted.ReplaceAllString(object, "$1") == a.subjectHere()
	})
}

// subjectHere is the subject with its database.
func (a Advice) subjectHere() string {
	if a.Database == "" || a.Subject == a.Object {
		return a.Subject
	}
	return a.Subject + " in database " + a.Database
}

// Decline marks what an assessment lacks and the organization will not grant. The checks
// that wait for nothing else say so.
func Decline(engine fleet.Engine, a *snapshot.Assessment, declined []string) {
	all := All(engine, a.MissingGrants, declined)
	for i := range all {
		a.MissingGrants[i].Declined = all[i].Declined
	}
	for i := range a.Results {
		r := &a.Results[i]
		if r.Status != snapshot.StatusNotAssessed || r.ReasonCode != snapshot.ReasonPermissionDenied {
			continue
		}
		var subjects []string
		missing := false
		for _, g := range all {
			if !slices.Contains(g.Checks, r.CheckID) || r.Database != "" && g.Database != "" && g.Database != r.Database {
				continue
			}
			missing = missing || !g.Declined
			if !slices.Contains(subjects, g.Subject) {
				subjects = append(subjects, g.Subject)
			}
		}
		if !missing && len(subjects) > 0 {
			r.ReasonCode = snapshot.ReasonDeclined
			r.Reason = "Not assessed: declined. Your organization does not grant " + strings.Join(subjects, " and ") + "."
		}
	}
}

// Refuse says why an organization cannot decline an object; "" where it can.
func Refuse(engine fleet.Engine, missing []snapshot.MissingGrant, object string) string {
	why := "is not the object of a grant that is missing on this instance"
	for _, a := range All(engine, missing, nil) {
		switch {
		case !a.declinedBy([]string{object}):
		case a.Declinable:
			return ""
		default:
			why = "cannot be declined: without it nothing is measured"
		}
	}
	return why
}
