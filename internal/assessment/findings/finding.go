package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Finding is one row: an object that breaks a check, or a check that could not be
// run. Its fields are in the order of write.sql.
type Finding struct {
	ID           uuid.UUID  `db:"id"`
	Organization uuid.UUID  `db:"organization_id"`
	Instance     uuid.UUID  `db:"instance_id"`
	CheckID      string     `db:"check_id"`
	Database     string     `db:"database_name"` // empty: instance-wide
	Object       string     `db:"object"`        // empty: the check names none
	Assessed     bool       `db:"assessed"`      // false: the check could not be run
	Rank         int        `db:"severity"`      // analysis.Rank, 0 is the worst
	Evidence     string     `db:"evidence"`
	Measured     string     `db:"measured"`
	Threshold    string     `db:"threshold"`
	Reason       string     `db:"reason"` // why it could not be looked at, last time; empty: it was
	FixDatabase  string     `db:"fix_database"`
	Statement    string     `db:"fix_statement"` // empty: none that can be run as it stands
	Rollback     string     `db:"fix_rollback"`
	FirstSeen    time.Time  `db:"first_seen_at"`
	LastSeen     time.Time  `db:"last_seen_at"`
	Gone         *time.Time `db:"gone_at"` // nil: it is there
	// Of one that came back: the first assessment that ever found it, and the last one that found it gone.
	EarlierFirst *time.Time `db:"earlier_first_seen_at"`
	EarlierGone  *time.Time `db:"earlier_gone_at"` // nil: it never came back
}

// Severity is the word for its rank.
func (f Finding) Severity() string { return analysis.Severities[f.Rank] }

// place is what a result is about.
type place struct{ check, database string }

// in are the findings of one assessment of an instance, seen at that time, by id, but for
// those that exceptions accept.
func in(organization, instance uuid.UUID, a snapshot.Assessment, checks []snapshot.Check, accepted []snapshot.Exception, at time.Time) map[uuid.UUID]Finding {
	doc := snapshot.Document{
		AsOf: at, Checks: checks, Exceptions: accepted,
		Instances: []snapshot.Instance{{ID: instance, Engine: string(fleet.PostgreSQL), Active: true, Assessment: &a}},
	}
	results := make(map[place]snapshot.CheckResult, len(a.Results))
	for _, r := range a.Results {
		results[place{r.CheckID, r.Database}] = r
	}
	found := make(map[uuid.UUID]Finding)
	add := func(f Finding) {
		f.Organization, f.Instance, f.FirstSeen, f.LastSeen = organization, instance, at, at
		nth := 0
		for f.ID = f.identity(nth); ; f.ID = f.identity(nth) {
			if _, taken := found[f.ID]; !taken {
				break
			}
			nth++ // two rules of pg_hba.conf may read alike
		}
		found[f.ID] = f.storable()
	}
	for _, g := range analysis.Findings(doc) {
		for _, v := range g.Findings {
			r := results[place{g.Check.ID, v.Database}]
			f := Finding{
				CheckID: g.Check.ID, Database: v.Database, Object: v.Object, Assessed: true, Rank: analysis.Rank(v.Severity),
				Evidence: v.Evidence, Measured: r.Measured, Threshold: r.Threshold,
			}
			if v.Fix != nil {
				f.FixDatabase, f.Statement, f.Rollback = v.Fix.Database, v.Fix.Statement, v.Fix.Rollback
			}
			add(f)
		}
	}
	severities := make(map[string]string, len(checks))
	for _, c := range checks {
		severities[c.ID] = c.Severity
	}
	for _, r := range a.Results {
		if r.Status == snapshot.StatusNotAssessed {
			add(Finding{CheckID: r.CheckID, Database: r.Database, Rank: analysis.Rank(severities[r.CheckID]), Threshold: r.Threshold, Reason: r.Reason})
		}
	}
	return found
}

// identity is the id of what a finding is about; nth tells apart those that are about
// the same.
func (f Finding) identity(nth int) uuid.UUID {
	return analysis.FindingID(f.Organization, f.CheckID, analysis.Finding{InstanceID: f.Instance, Database: f.Database, Object: f.Object}, f.Assessed, nth)
}

// storable is the finding in a form that PostgreSQL can store. A statement about a name that it
// cannot store is left out.
func (f Finding) storable() Finding {
	clean := func(s string) string {
		return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	}
	for _, text := range []*string{&f.CheckID, &f.Database, &f.Object, &f.Evidence, &f.Measured, &f.Threshold, &f.Reason} {
		*text = clean(*text)
	}
	if f.Statement != clean(f.Statement) || f.Rollback != clean(f.Rollback) || f.FixDatabase != clean(f.FixDatabase) {
		f.FixDatabase, f.Statement, f.Rollback = "", "", ""
	}
	return f
}

// after is the knowledge of an instance after one more assessment: the earlier findings, in any
// order, become the current ones and those that have just gone.
func after(before []Finding, organization, instance uuid.UUID, a snapshot.Assessment, checks []snapshot.Check, at time.Time) []Finding {
	if a.Outcome == snapshot.OutcomeUnreachable {
		return before
	}
	found, look := in(organization, instance, a, checks, nil, at), lookOf(a)
	out := make([]Finding, 0, len(found)+len(before))
	for _, f := range before {
		if f.Gone != nil {
			continue
		}
		if now, there := found[f.ID]; there {
			now.FirstSeen, now.EarlierFirst, now.EarlierGone = f.FirstSeen, f.EarlierFirst, f.EarlierGone
			found[f.ID] = now
			continue
		}
		if why, hidden := look.hides(f); hidden {
			f.Reason = why
		} else {
			gone := at
			f.Gone = &gone
		}
		out = append(out, f)
	}
	for _, f := range found {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return out
}

// reopened notes in rows what came back of those that were known, in any order, and had gone.
func reopened(rows []Finding, known func(uuid.UUID) (Finding, bool)) {
	for i := range rows {
		f := &rows[i]
		if was, there := known(f.ID); there && was.Gone != nil && f.Gone == nil {
			f.EarlierFirst, f.EarlierGone = cmp.Or(was.EarlierFirst, &was.FirstSeen), was.Gone
		}
	}
}

// look says what an assessment could not see.
type look struct {
	results map[place]snapshot.CheckResult
	hidden  map[place][]string // objects, or "4 sequences of schema shop", by check and database
}

func lookOf(a snapshot.Assessment) look {
	l := look{map[place]snapshot.CheckResult{}, map[place][]string{}}
	for _, r := range a.Results {
		l.results[place{r.CheckID, r.Database}] = r
		for _, g := range a.MissingGrants {
			object, ok := strings.CutSuffix(g.Object, " in database "+r.Database)
			if !ok || !slices.Contains(g.Checks, r.CheckID) {
				continue
			}
			at := place{r.CheckID, r.Database}
			l.hidden[at] = append(l.hidden[at], object)
		}
	}
	return l
}

// unreadable says whether the monitoring role may not read a finding's object.
func (l look) unreadable(f Finding) bool {
	return slices.ContainsFunc(l.hidden[place{f.CheckID, f.Database}], func(hidden string) bool {
		_, schema, several := strings.Cut(hidden, " of schema ")
		return hidden == f.Object || several && strings.HasPrefix(f.Object, schema+".")
	})
}

// hides says whether a finding that an assessment does not name may still exist, and why it was
// not assessed.
func (l look) hides(f Finding) (why string, hidden bool) {
	r, looked := l.results[place{f.CheckID, f.Database}]
	if whole, there := l.results[place{check: f.CheckID}]; !looked && there && whole.Status == snapshot.StatusNotAssessed {
		r, looked = whole, true // a feed does not say of which databases it did not tell
	}
	switch {
	case !f.Assessed || !looked: // what could not be run was run; the check, or the database, is no more
		return "", false
	case r.Status == snapshot.StatusNotAssessed:
		return r.Reason, true
	case l.unreadable(f):
		return cmp.Or(r.Reason, "The monitoring role may not read it."), true
	case r.Total > len(r.Violations) && len(r.Violations) > 0 && f.Object > r.Violations[len(r.Violations)-1].Object:
		return fmt.Sprintf("The last assessment lists the first %d objects of this check, and this one would come after them.", len(r.Violations)), true
	default:
		return "", false
	}
}
