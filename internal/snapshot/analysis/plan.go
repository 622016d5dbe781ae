package analysis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/snapshot"
)

// Step is one action of the remediation plan.
type Step struct {
	Action       string
	Statement    string // template, may be empty
	Checks       []string
	Findings     int // it closes
	Instances    int
	Severity     string // the highest it closes
	Effort       string // S, M, L
	NeedsRestart bool
	Due          time.Time
	Weight       float64 // of what it closes
	// Cleared is the share of all weight that is gone after this step and
	// those before it, 0 to 1.
	Cleared float64
}

// dueDays is how long a finding may stay open, by severity.
var dueDays = [len(Severities)]int{7, 30, 90, 180}

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

// draft collects a step before it is ordered.
type draft struct {
	Step
	instances map[uuid.UUID]bool
}

// Plan groups all open findings by the action that closes them and orders the
// actions by weight closed per effort, ties by severity, then the first check
// id. A check on an instance weighs what it costs in the health score. An
// open CVE that no failing version check covers adds the upgrade that clears
// it, weighed by the band of the instance's highest CVSS.
func Plan(doc snapshot.Document) []Step {
	drafts := map[string]*draft{}
	fromFindings(doc, drafts)
	fromVulnerabilities(doc, drafts)
	steps := make([]Step, 0, len(drafts))
	for _, d := range drafts {
		d.Instances = len(d.instances)
		slices.Sort(d.Checks)
		d.Checks = slices.Compact(d.Checks)
		d.Due = doc.AsOf.AddDate(0, 0, dueDays[Rank(d.Severity)])
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
	for _, g := range Findings(doc) {
		d := draftFor(drafts, g.Check)
		d.Checks = append(d.Checks, g.Check.ID)
		d.Findings += g.Total()
		for _, f := range g.Findings {
			d.instances[f.InstanceID] = true
		}
	}
	for i := range doc.Instances {
		for _, o := range outcomes(doc, &doc.Instances[i]) {
			if o.failed {
				draftFor(drafts, o.check).Weight += o.cost()
			}
		}
	}
}

// draftFor finds the action of a check. Checks with the same remediation and
// statement are closed by the same action.
func draftFor(drafts map[string]*draft, check snapshot.Check) *draft {
	key := check.Remediation + "\x00" + check.Statement
	if check.Remediation == "" {
		key = check.ID
	}
	d := drafts[key]
	if d == nil {
		action := check.Remediation
		if action == "" {
			action = "Resolve " + check.ID + ": " + check.Title
		}
		d = &draft{
			Step:      Step{Action: action, Statement: check.Statement, Severity: check.Severity, Effort: check.Effort},
			instances: map[uuid.UUID]bool{},
		}
		drafts[key] = d
	}
	if Rank(check.Severity) < Rank(d.Severity) {
		d.Severity = check.Severity
	}
	if EffortWeight(check.Effort) > EffortWeight(d.Effort) {
		d.Effort = check.Effort
	}
	d.NeedsRestart = d.NeedsRestart || check.NeedsRestart
	return d
}

// versionChecks are the catalogue's own checks for an old version; where one
// fails, its remediation already is the upgrade.
var versionChecks = []string{"PG-S30", "PG-S31"}

func fromVulnerabilities(doc snapshot.Document, drafts map[string]*draft) {
	cvss := map[string]float64{}
	for _, v := range doc.Vulnerabilities {
		cvss[v.ID] = v.CVSS
	}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		if !in.Active || in.Release == nil || in.Release.Target == "" || coveredByVersionCheck(doc, in) {
			continue
		}
		open, highest := 0, 0.0
		for _, c := range in.CVEs {
			if c.Applies != CVENotExploitable {
				open++
				highest = max(highest, cvss[c.ID])
			}
		}
		if open == 0 {
			continue
		}
		action := "Upgrade " + EngineName(in.Engine) + " " + in.Release.Major + " to " + in.Release.Target
		d := drafts["\x00"+action]
		if d == nil {
			d = &draft{
				Step:      Step{Action: action, Severity: Low, Effort: "M", NeedsRestart: true, Checks: []string{"open CVEs"}},
				instances: map[uuid.UUID]bool{},
			}
			drafts["\x00"+action] = d
		}
		if band := Band(highest); Rank(band) < Rank(d.Severity) {
			d.Severity = band
		}
		d.Findings += open
		d.Weight += Weight(Band(highest))
		d.instances[in.ID] = true
	}
}

func coveredByVersionCheck(doc snapshot.Document, in *snapshot.Instance) bool {
	for _, o := range outcomes(doc, in) {
		if o.failed && slices.Contains(versionChecks, o.check.ID) {
			return true
		}
	}
	return false
}

// DueDays is how many days a finding of that severity may stay open.
func DueDays(severity string) int { return dueDays[Rank(severity)] }
