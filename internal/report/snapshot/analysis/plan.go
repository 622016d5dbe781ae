package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

// Step is one action of the remediation plan.
type Step struct {
	Action       string
	Checks       []string
	Findings     int            // it closes: findings, open CVEs, ends of life
	Possible     int            // CVEs that are not ruled out, and that it would close too
	Closes       SeverityCounts // of Findings, those of checks
	CVEs         int            // of Findings, the open CVEs
	Where        []string       // names of the instances, sorted
	Instances    int
	Owners       []Owned // of the instances
	Severity     string  // the highest it closes
	Effort       string  // S, M, L
	NeedsRestart bool
	Due          time.Time
	Weight       float64 // of what it closes
	// Cleared is the share of all weight that is gone after this step and
	// those before it, 0 to 1.
	Cleared float64
}

// EffortWeight is what an action of that effort costs; unknown counts as M.
func EffortWeight(effort string) float64 {
	switch effort {
	case "S":
		return 1
	case "L":
		return 8
	default:
		return 3
	}
}

// What stands in Step.Checks where no failing check speaks of it.
const (
	OpenCVEs  = "open CVEs"
	EndOfLife = "end of life"
)

// draft collects a step before it is ordered.
type draft struct {
	Step
	instances map[uuid.UUID]string // names
}

// Plan groups all open findings by the action that closes them and orders the
// actions by weight closed per effort, ties by severity, then the first check
// id. A check on an instance weighs what it costs in the health score. An
// open CVE, or an end of life, that no failing version check covers adds the
// upgrade that clears it, weighed by the band of the instance's highest CVSS or by
// the check for old majors, whichever is worse.
func Plan(doc snapshot.Document) []Step {
	drafts := map[string]*draft{}
	fromFindings(doc, drafts)
	fromVulnerabilities(doc, drafts)
	steps := make([]Step, 0, len(drafts))
	for _, d := range drafts {
		d.Instances, d.Where = len(d.instances), slices.Sorted(maps.Values(d.instances))
		d.Owners = ownersOf(doc, d.instances)
		slices.Sort(d.Checks)
		d.Checks = slices.Compact(d.Checks)
		d.Due = doc.AsOf.AddDate(0, 0, DueDays(d.Severity))
		steps = append(steps, d.Step)
	}
	slices.SortFunc(steps, func(a, b Step) int {
		return cmp.Or(
			cmp.Compare(b.Weight/EffortWeight(b.Effort), a.Weight/EffortWeight(a.Effort)),
			cmp.Compare(Rank(a.Severity), Rank(b.Severity)),
			slices.Compare(a.Checks, b.Checks),
			strings.Compare(a.Action, b.Action),
		)
	})
	// Summed in this order, not in map order: float addition is not associative
	// and the figure is printed.
	total := 0.0
	for _, s := range steps {
		total += s.Weight
	}
	done := 0.0
	for i := range steps {
		done += steps[i].Weight
		steps[i].Cleared = done / total
	}
	return steps
}

func fromFindings(doc snapshot.Document, drafts map[string]*draft) {
	instances := map[uuid.UUID]*snapshot.Instance{}
	for i := range doc.Instances {
		instances[doc.Instances[i].ID] = &doc.Instances[i]
	}
	for _, g := range Findings(doc) {
		for i, f := range g.Findings {
			d := actionFor(drafts, instances[f.InstanceID], g.Check)
			d.Checks = append(d.Checks, g.Check.ID)
			closed := 1
			if i == 0 {
				closed += g.Unlisted
			}
			d.Findings += closed
			d.Closes[Rank(g.Check.Severity)] += closed
			d.instances[f.InstanceID] = f.InstanceName
		}
	}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		for _, o := range outcomes(doc, in) {
			if o.failed {
				actionFor(drafts, in, o.check).Weight += o.cost()
			}
		}
	}
}

// actionFor finds what closes a check on an instance. An old version is closed
// by the upgrade to a version that the plan names.
func actionFor(drafts map[string]*draft, in *snapshot.Instance, check snapshot.Check) *draft {
	if !upgrades(in, check.ID) {
		return draftFor(drafts, check)
	}
	d := upgradeFor(drafts, in)
	d.raise(check.Severity)
	return d
}

// upgrades says whether the upgrade to the instance's target passes a check.
func upgrades(in *snapshot.Instance, check string) bool {
	switch {
	case in.Release == nil || in.Release.Target == "":
		return false
	case check == endOfLifeCheck:
		return newMajor(in.Release)
	default:
		return check == oldMinorCheck
	}
}

// newMajor says whether the target is another major version: more work than
// new binaries and a restart.
func newMajor(r *snapshot.Release) bool {
	if r.TargetMajor != "" {
		return r.TargetMajor != r.Major
	}
	return r.Target != r.Major && !strings.HasPrefix(r.Target, r.Major+".")
}

// upgradeFor finds the upgrade of an instance; servers of one major version
// share it.
func upgradeFor(drafts map[string]*draft, in *snapshot.Instance) *draft {
	action := "Upgrade " + EngineName(in.Engine) + " " + in.Release.Major + " to " + in.Release.Target
	effort := "M"
	if newMajor(in.Release) {
		action, effort = action+", a new major version", "L"
		if end := in.Release.TargetEndOfLife; end != nil {
			action += " supported until " + end.UTC().Format(time.DateOnly)
		}
	} else if longest := in.Release.Longest; longest != nil {
		action += ", then go to " + longest.Version + ", supported until " + longest.EndOfLife.UTC().Format(time.DateOnly)
	}
	return draftOf(drafts, "\x00"+action, Step{Action: action, Severity: Low, Effort: effort, NeedsRestart: true})
}

// draftOf finds what is known by a key, or else begins it with a step.
func draftOf(drafts map[string]*draft, key string, begin Step) *draft {
	if drafts[key] == nil {
		drafts[key] = &draft{Step: begin, instances: map[uuid.UUID]string{}}
	}
	return drafts[key]
}

func (d *draft) raise(severity string) {
	d.Severity = worst(d.Severity, severity)
}

// draftFor finds the action of a check. Checks with the same remediation are
// closed by the same action.
func draftFor(drafts map[string]*draft, check snapshot.Check) *draft {
	key, action := check.Remediation, check.Remediation
	if key == "" {
		key, action = check.ID, "Resolve "+check.ID+": "+check.Title
	}
	d := draftOf(drafts, key, Step{Action: action, Severity: check.Severity, Effort: check.Effort})
	d.raise(check.Severity)
	if EffortWeight(check.Effort) > EffortWeight(d.Effort) {
		d.Effort = check.Effort
	}
	d.NeedsRestart = d.NeedsRestart || check.NeedsRestart
	return d
}

// The catalogue's own checks for an old version.
const (
	endOfLifeCheck = "PG-S30"
	oldMinorCheck  = "PG-S31"
)

// endOfLifeSeverity is the severity of a major past its end of life: the catalog's for
// PostgreSQL, High if it has none.
func endOfLifeSeverity(doc snapshot.Document) string {
	if check, ok := catalogueOf(doc)[endOfLifeCheck]; ok {
		return check.Severity
	}
	return High
}

func fromVulnerabilities(doc snapshot.Document, drafts map[string]*draft) {
	for i := range doc.Instances {
		in := &doc.Instances[i]
		if !in.Active || in.Release == nil || in.Release.Target == "" || coveredByVersionCheck(doc, in) {
			continue
		}
		cves := CVEs(doc, in)
		_, ended := Ended(doc, in)
		if cves.Open.Total()+cves.Possible.Total() == 0 && !ended {
			continue
		}
		d, severity := upgradeFor(drafts, in), Low
		if cves.Highest() > 0 {
			severity = Band(cves.Highest())
		}
		if cves.Open.Total() > 0 {
			d.Checks = append(d.Checks, OpenCVEs)
		}
		d.Findings += cves.Open.Total()
		d.CVEs += cves.Open.Total()
		d.Possible += cves.Possible.Total()
		if ended {
			d.Checks = append(d.Checks, EndOfLife)
			d.Findings++
			severity = worst(severity, endOfLifeSeverity(doc))
		}
		d.raise(severity)
		d.Weight += Weight(severity)
		d.instances[in.ID] = in.Name
	}
}

func coveredByVersionCheck(doc snapshot.Document, in *snapshot.Instance) bool {
	return slices.ContainsFunc(outcomes(doc, in), func(o outcome) bool {
		return o.failed && (o.check.ID == oldMinorCheck || o.check.ID == endOfLifeCheck)
	})
}

// DueDays is how many days a finding of that severity may stay open.
func DueDays(severity string) int { return [...]int{7, 30, 90, 180}[Rank(severity)] }
