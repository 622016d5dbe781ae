package analysis

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

// Finding is one object that breaks a check.
type Finding struct {
	InstanceID   uuid.UUID
	InstanceName string
	Database     string // empty: instance-wide
	Object       string // empty: the check names no object
	Evidence     string
	Fix          *snapshot.Fix // nil: there is none that can be run as it stands
	Severity     string
	Exception    *snapshot.Exception // that accepts it; nil: it is open
	FirstSeen    *time.Time          // nil: not known
}

// FindingID is made from the subject of a finding, its first half from the check: it is the
// same in a report and in every list of findings. A check that could not run counts as not
// assessed; nth distinguishes findings with the same subject.
func FindingID(organization uuid.UUID, check string, f Finding, assessed bool, nth int) (id uuid.UUID) {
	first := sha256.Sum256([]byte(check))
	about := sha256.Sum256(fmt.Appendf(nil, "%s %s %q %q %q %t %d", organization, f.InstanceID, check, f.Database, f.Object, assessed, nth))
	copy(id[:8], first[:])
	copy(id[8:], about[:])
	id[6] = id[6]&0x0f | 0x80 // version 8: made by whoever made it
	id[8] = id[8]&0x3f | 0x80
	return id
}

// CheckFindings is all findings of one check with one severity. A check whose severity
// depends on what was found has a group for each.
type CheckFindings struct {
	Check     snapshot.Check // with that severity
	Instances int            // affected
	Findings  []Finding      // by instance name, instance id, database, object
	Unlisted  int            // found, but beyond snapshot.MaxViolations
}

// Total is the number of findings, listed or not.
func (g CheckFindings) Total() int { return len(g.Findings) + g.Unlisted }

// Findings returns every failing check with what breaks it and is not accepted:
// severity descending, affected instances descending, check id ascending.
func Findings(doc snapshot.Document) []CheckFindings {
	checks := catalogueOf(doc)
	return groups(doc, checks, func(in *snapshot.Instance, r snapshot.CheckResult) (listed []Finding, unlisted int) {
		open := judge(doc, checks, in, r).open
		if open.Status != snapshot.StatusFail {
			return nil, 0
		}
		listed = findingsOf(checks, in, open)
		return listed, max(0, open.Total-len(listed))
	})
}

// findingsOf lists what breaks a check on an instance; at least the check does.
func findingsOf(checks catalogue, in *snapshot.Instance, r snapshot.CheckResult) []Finding {
	f := Finding{InstanceID: in.ID, InstanceName: in.Name, Database: r.Database, Severity: checks.of(r).Severity}
	if len(r.Violations) == 0 {
		f.Evidence, f.FirstSeen = r.Measured, r.FirstSeenAt
		return []Finding{f}
	}
	out := make([]Finding, len(r.Violations))
	for i, v := range r.Violations {
		out[i] = f
		out[i].Object, out[i].Evidence, out[i].Fix = v.Object, v.Evidence, v.Fix
		out[i].FirstSeen = v.FirstSeenAt
		out[i].Severity = cmp.Or(v.Severity, f.Severity)
	}
	return out
}

// groups collects what of says of each result by check and severity. What is not
// listed is as severe as the result.
func groups(doc snapshot.Document, checks catalogue, of func(*snapshot.Instance, snapshot.CheckResult) (listed []Finding, unlisted int)) []CheckFindings {
	type key struct{ check, severity string }
	byCheck, skip := map[key]*CheckFindings{}, outside(doc)
	for i := range doc.Instances {
		in := &doc.Instances[i]
		seen := map[key]bool{}
		group := func(check snapshot.Check, severity string) *CheckFindings {
			check.Severity = severity
			k := key{check.ID, severity}
			g := byCheck[k]
			if g == nil {
				g = &CheckFindings{Check: check}
				byCheck[k] = g
			}
			if !seen[k] {
				seen[k] = true
				g.Instances++
			}
			return g
		}
		for _, result := range within(doc, skip, in) {
			listed, unlisted := of(in, result)
			if len(listed) == 0 && unlisted <= 0 {
				continue
			}
			check := checks.of(result)
			for _, f := range listed {
				g := group(check, f.Severity)
				g.Findings = append(g.Findings, f)
			}
			if unlisted > 0 {
				group(check, check.Severity).Unlisted += unlisted
			}
		}
	}
	out := make([]CheckFindings, 0, len(byCheck))
	for _, g := range byCheck {
		slices.SortStableFunc(g.Findings, compareFindings)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b CheckFindings) int {
		return cmp.Or(
			cmp.Compare(Rank(a.Check.Severity), Rank(b.Check.Severity)),
			cmp.Compare(b.Instances, a.Instances),
			strings.Compare(a.Check.ID, b.Check.ID),
			strings.Compare(a.Check.Severity, b.Check.Severity),
		)
	})
	return out
}

func compareFindings(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.InstanceName, b.InstanceName),
		bytes.Compare(a.InstanceID[:], b.InstanceID[:]),
		strings.Compare(a.Database, b.Database),
		strings.Compare(a.Object, b.Object),
		strings.Compare(a.Evidence, b.Evidence),
	)
}

// Keys returns the identities of all listed findings, open and accepted, each sorted and
// unique: the Previous of the next report with the same scope.
func Keys(doc snapshot.Document) (open, accepted []snapshot.FindingKey) {
	return keysOf(Findings(doc)), keysOf(Accepted(doc))
}

func keysOf(groups []CheckFindings) []snapshot.FindingKey {
	keys := []snapshot.FindingKey{}
	for _, g := range groups {
		for _, f := range g.Findings {
			keys = append(keys, snapshot.FindingKey{
				InstanceID: f.InstanceID, Database: f.Database, CheckID: g.Check.ID, Object: f.Object,
			})
		}
	}
	slices.SortFunc(keys, snapshot.FindingKey.Compare)
	return slices.Compact(keys)
}

// Change is how the findings differ from the previous report of the same kind
// and scope. What was open is Closed, Unchanged, Accepted or Unknown; what is
// open is New, Reopened or Unchanged.
type Change struct {
	New       int
	Closed    int
	Unchanged int
	Accepted  int // were open, and an exception covers them now
	Reopened  int // were accepted, and their exception has lapsed or was revoked
	// Unknown counts previous findings whose check was not assessed this time:
	// not seen is not the same as closed.
	Unknown int
	// NewBy are those of New and Reopened, and ClosedBy those of Closed, whose severity is that of their check.
	NewBy, ClosedBy SeverityCounts
}

// ChangeSince compares listed findings with the previous report's; ok is false if there is
// none.
func ChangeSince(doc snapshot.Document) (change Change, ok bool) {
	if doc.Previous == nil {
		return Change{}, false
	}
	openKeys, acceptedKeys := Keys(doc)
	open, accepted := setOf(openKeys), setOf(acceptedKeys)
	before := setOf(doc.Previous.Findings)
	assessed, checks := assessedChecks(doc), catalogueOf(doc)
	for key := range before {
		switch {
		case open[key]:
			change.Unchanged++
		case accepted[key]:
			change.Accepted++
		case assessed.looked(key):
			change.Closed++
			change.ClosedBy[Rank(checks.of(snapshot.CheckResult{CheckID: key.CheckID}).Severity)]++
		default:
			change.Unknown++
		}
	}
	for key := range setOf(doc.Previous.Accepted) {
		if open[key] && !before[key] {
			change.Reopened++
		}
	}
	change.New = len(open) - change.Unchanged - change.Reopened
	for _, g := range Findings(doc) { // the gravest first, whose keys others may repeat
		for _, key := range keysOf([]CheckFindings{g}) {
			if open[key] && !before[key] {
				change.NewBy[Rank(g.Check.Severity)]++
				delete(open, key)
			}
		}
	}
	return change, true
}

func setOf(keys []snapshot.FindingKey) map[snapshot.FindingKey]bool {
	set := make(map[snapshot.FindingKey]bool, len(keys))
	for _, key := range keys {
		set[key] = true
	}
	return set
}

// answered is whether a check on an instance, or on a database of it, has an answer.
type answered map[snapshot.FindingKey]bool

// looked says whether what a finding is about was looked at. A feed may answer for all
// databases at once, in which case it names none.
func (a answered) looked(key snapshot.FindingKey) bool {
	key.Object = ""
	answer, told := a[key]
	if !told {
		key.Database = ""
		answer = a[key]
	}
	return answer
}

// assessedChecks holds every (instance, database, check) of the document.
func assessedChecks(doc snapshot.Document) answered {
	out := answered{}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		for _, r := range Results(doc, in) {
			out[snapshot.FindingKey{InstanceID: in.ID, Database: r.Database, CheckID: r.CheckID}] = r.Status != snapshot.StatusNotAssessed
		}
	}
	return out
}

// SeverityCounts is a number of findings for each severity, in the order of Severities.
type SeverityCounts [len(Severities)]int

// Total is the sum over all severities.
func (c SeverityCounts) Total() int { return c[0] + c[1] + c[2] + c[3] }

// grave is the sum over Critical and High.
func (c SeverityCounts) grave() int { return c[0] + c[1] }

// Weight is the sum of the severities' weights, the order of the chart.
func (c SeverityCounts) Weight() float64 {
	sum := 0.0
	for i, n := range c {
		sum += float64(n) * Weight(Severities[i])
	}
	return sum
}

// CountBySeverity counts findings, also unlisted ones.
func CountBySeverity(groups []CheckFindings) SeverityCounts {
	var c SeverityCounts
	for _, g := range groups {
		c[Rank(g.Check.Severity)] += g.Total()
	}
	return c
}

// InstanceCounts is one bar of the chart.
type InstanceCounts struct {
	Name   string
	Counts SeverityCounts // failed checks
}

// CountByInstance counts each instance's failed checks by severity, heaviest
// first, ties by name. It counts checks, not objects: one check that finds 500
// tables must not hide every other server.
func CountByInstance(doc snapshot.Document) []InstanceCounts {
	out := []InstanceCounts{}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		one := InstanceCounts{in.Name, failedBySeverity(outcomes(doc, in))}
		if one.Counts.Total() > 0 {
			out = append(out, one)
		}
	}
	slices.SortStableFunc(out, func(a, b InstanceCounts) int {
		return cmp.Or(cmp.Compare(b.Counts.Weight(), a.Counts.Weight()), strings.Compare(a.Name, b.Name))
	})
	return out
}
