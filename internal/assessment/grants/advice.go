package grants

import (
	"regexp"
	"slices"
	"strings"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/engine/trait"
	"muster/internal/report/snapshot"
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

// sequences are counted in the object of a grant; another one next week is the same grant.
var counted = regexp.MustCompile(`^[0-9]+ (sequences of schema )`)

// grantsOf are what Muster's account needs on the servers of an engine.
func grantsOf(name fleet.Engine) trait.Grants { return engine.ConnectedOf(string(name)).Grants }

// Of says what a missing grant is about.
func Of(name fleet.Engine, g snapshot.MissingGrant) Advice {
	of := grantsOf(name)
	a := Advice{Object: g.Object, Statement: strings.TrimSpace(g.Statement), Needed: true, Declinable: true, Checks: g.Checks}
	a.Subject, a.Database = within(a.Object)
	a.Subject = counted.ReplaceAllString(a.Subject, "$1")
	if of.Uses != nil {
		if m := of.Uses.FindStringSubmatch(a.Statement); m != nil {
			a.Database = m[1]
		}
	}
	for _, r := range of.Rules {
		if !slices.ContainsFunc(r.Words, func(word string) bool {
			return strings.Contains(a.Subject, word) || strings.Contains(a.Statement, word)
		}) {
			continue
		}
		a.Needed, a.Declinable, a.Reveals = !r.Optional, !r.Measures, r.Reveals
		break
	}
	return a
}

// within splits an object into its subject and its database, which is empty if it names none.
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

// Refuse says why an organization cannot decline an object; "" if it can.
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
