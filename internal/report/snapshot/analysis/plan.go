package analysis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/engine"
	"muster/internal/report/snapshot"
)

// Step is one action of the remediation plan: what is wrong with which objects of one server, what closes it, who owns
// the server, and by when.
type Step struct {
	Title     string   // what is wrong, or which version to go to
	Objects   []string // that it is about, sorted; none: the whole server
	Action    string   // what closes it; empty: Title says it
	Checks    []string
	Findings  int            // it closes: findings, open CVEs, ends of life
	Possible  int            // CVEs that are not ruled out, and that it would close too
	Closes    SeverityCounts // of Findings, those of checks
	CVEs      int            // of Findings, the open CVEs
	Exploited []string       // of the CVEs, open or not ruled out: those known to be exploited
	// Instance is where, and Where its name.
	Instance uuid.UUID
	Where    string
	// Owner is the team that owns the instance; empty: no team does.
	Owner        string
	Severity     string // the highest it closes
	Effort       string // S, M, L
	NeedsRestart bool
	Deadline     Deadline // the first of what it closes
	Ended        bool     // it leaves a major past its end of life
	Planned      bool     // nothing is open yet: it has to be done by the end of support
	Weight       float64  // of what it closes
	// Cleared is the share of all weight that is gone after this step and
	// those before it, 0 to 1.
	Cleared float64
}

// Subject is what the step is about, with the first of its objects.
func (s Step) Subject() string { return s.Title + s.Named(2) }

// Named is what follows the title: the first objects, at most that many of them.
func (s Step) Named(most int) string {
	if len(s.Objects) == 0 {
		return ""
	}
	return ": " + some(s.Objects, most)
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

// Plan groups all open findings by the server and the action that closes them. Updates of a version are one action of
// a server, whatever checks and CVEs ask for them; leaving a major past its end of life is another. The order is
// severity, exploited vulnerabilities first, the deadline, the end of life, then weight closed per effort. A check on an instance weighs
// what it costs in the health score. An update that only CVEs ask for weighs by the band of the highest CVSS, leaving
// a major by the check for old majors.
func Plan(doc snapshot.Document) []Step {
	p := planner{doc: doc, steps: map[stepKey]*Step{}}
	p.fromFindings()
	for i := range doc.Instances {
		in := &doc.Instances[i]
		p.weigh(in)
		p.fromVersion(in)
	}
	steps := make([]Step, 0, len(p.steps))
	for _, s := range p.steps {
		slices.Sort(s.Checks)
		s.Checks = slices.Compact(s.Checks)
		slices.Sort(s.Objects)
		s.Objects = slices.Compact(s.Objects)
		steps = append(steps, *s)
	}
	slices.SortFunc(steps, compareSteps)
	// Summed in this order, not in map order: float addition is not associative
	// and the figure is printed.
	total := 0.0
	for _, s := range steps {
		total += s.Weight
	}
	done := 0.0
	for i := range steps {
		done += steps[i].Weight
		if steps[i].Cleared = 1; total > 0 {
			steps[i].Cleared = done / total
		}
	}
	return steps
}

func compareSteps(a, b Step) int {
	return cmp.Or(
		cmp.Compare(one(a.Planned), one(b.Planned)),
		cmp.Compare(Rank(a.Severity), Rank(b.Severity)),
		cmp.Compare(min(len(b.Exploited), 1), min(len(a.Exploited), 1)),
		a.Deadline.At.Compare(b.Deadline.At),
		cmp.Compare(one(b.Ended), one(a.Ended)),
		cmp.Compare(b.Weight/EffortWeight(b.Effort), a.Weight/EffortWeight(a.Effort)),
		strings.Compare(a.Where, b.Where),
		slices.Compare(a.Checks, b.Checks),
		strings.Compare(a.Title, b.Title),
		slices.Compare(a.Instance[:], b.Instance[:]),
	)
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// stepKey is a server and what closes several findings on it.
type stepKey struct {
	instance uuid.UUID
	action   string
}

// What closes findings besides the remediation of a check.
const (
	toUpdate = "\x00update"
	toLeave  = "\x00leave"
	toPlan   = "\x00plan"
)

type planner struct {
	doc   snapshot.Document
	steps map[stepKey]*Step
}

// stepOf finds a step of an instance, or begins it.
func (p *planner) stepOf(in *snapshot.Instance, action string, begin func() Step) *Step {
	key := stepKey{in.ID, action}
	if p.steps[key] == nil {
		s := begin()
		s.Instance, s.Where, s.Owner = in.ID, in.Name, OwnerOf(in)
		p.steps[key] = &s
	}
	return p.steps[key]
}

// fromFindings adds what is open to the steps that close it.
func (p *planner) fromFindings() {
	instances := map[uuid.UUID]*snapshot.Instance{}
	for i := range p.doc.Instances {
		instances[p.doc.Instances[i].ID] = &p.doc.Instances[i]
	}
	for _, g := range Findings(p.doc) {
		for i, f := range g.Findings {
			s := p.closing(instances[f.InstanceID], g.Check)
			s.Checks = append(s.Checks, g.Check.ID)
			if f.Object != "" && s.Action != "" { // an update of the version is about the whole server
				s.Objects = append(s.Objects, f.Object)
			}
			n := 1
			if i == 0 {
				n += g.Unlisted // which have no server of their own
			}
			s.Findings += n
			s.Closes[Rank(g.Check.Severity)] += n
			s.raise(g.Check.Severity)
			s.Deadline = s.Deadline.earlier(Due(p.doc, f))
		}
	}
}

// weigh adds what the failed checks of an instance cost to the steps that close them.
func (p *planner) weigh(in *snapshot.Instance) {
	for _, o := range outcomes(p.doc, in) {
		if o.failed {
			p.closing(in, o.check).Weight += o.cost()
		}
	}
}

func (s *Step) raise(severity string) { s.Severity = worst(s.Severity, severity) }

// closing is the step that closes a check on an instance.
func (p *planner) closing(in *snapshot.Instance, check snapshot.Check) *Step {
	of := engine.ChecksOf(in.Engine)
	switch to := upgradesOf(p.doc, in); {
	case check.ID == of.Outdated && to.update != "":
		return p.updating(in, to)
	case check.ID == of.Outdated && to.leave != "", check.ID == of.EndOfLife && to.leave != "":
		return p.leaving(in, to)
	}
	s := p.stepOf(in, cmp.Or(check.Remediation, check.ID), func() Step {
		return Step{Title: check.Title, Action: cmp.Or(check.Remediation, "Resolve "+check.ID+"."), Severity: check.Severity, Effort: check.Effort}
	})
	if EffortWeight(check.Effort) > EffortWeight(s.Effort) {
		s.Effort = check.Effort
	}
	s.NeedsRestart = s.NeedsRestart || check.NeedsRestart
	return s
}

// upgrades are the versions that an instance has to go to.
type upgrades struct {
	update string // within the major, now; empty: none helps
	leave  string // another major, now; empty: none is needed
	plan   string // another major, before the end of support; empty: the end is more than a year away
}

func upgradesOf(doc snapshot.Document, in *snapshot.Instance) (to upgrades) {
	r := in.Release
	if r == nil {
		return to
	}
	switch {
	case r.Target == "":
	case newMajor(r):
		to.leave = r.Target
		if r.Latest != "" && (r.MinorsBehind > 0 || r.Behind) {
			to.update = r.Latest
		}
	default:
		to.update = r.Target
	}
	if to.leave == "" && r.Longest != nil && r.EndOfLife != nil && Ending(doc, *r.EndOfLife) && !Over(doc, *r.EndOfLife) {
		to.plan = r.Longest.Version
	}
	return to
}

// newMajor says whether the target is another major version: more work than
// new binaries and a restart.
func newMajor(r *snapshot.Release) bool {
	if r.TargetMajor != "" {
		return r.TargetMajor != r.Major
	}
	return r.Target != r.Major && !strings.HasPrefix(r.Target, r.Major+".")
}

func (p *planner) updating(in *snapshot.Instance, to upgrades) *Step {
	return p.stepOf(in, toUpdate, func() Step {
		version, _ := Version(in)
		return Step{
			Title:    "Update " + EngineName(in.Engine) + " " + cmp.Or(version, in.Release.Major) + " to " + to.update,
			Severity: Low, Effort: "M", NeedsRestart: true,
		}
	})
}

func (p *planner) leaving(in *snapshot.Instance, to upgrades) *Step {
	return p.stepOf(in, toLeave, func() Step {
		title := "Leave " + EngineName(in.Engine) + " " + in.Release.Major
		if end := in.Release.EndOfLife; end != nil && Over(p.doc, *end) {
			title += ", out of support since " + end.UTC().Format(time.DateOnly)
		}
		title += ": upgrade to " + to.leave
		if !in.Active {
			title += ", or switch the inactive server off"
		}
		return Step{Title: title, Severity: Low, Effort: "L", NeedsRestart: true}
	})
}

// fromVersion adds the CVEs and the end of support of an instance.
func (p *planner) fromVersion(in *snapshot.Instance) {
	to := upgradesOf(p.doc, in)
	p.clearCVEs(in, to)
	if to.plan != "" {
		p.stepOf(in, toPlan, func() Step {
			return Step{
				Title:    "Plan the upgrade of " + EngineName(in.Engine) + " " + in.Release.Major + " to " + to.plan + ", before its support ends",
				Severity: Medium, Effort: "L", NeedsRestart: true, Planned: true, Deadline: Deadline{At: *in.Release.EndOfLife},
			}
		})
	}
	ended, over := Ended(p.doc, in)
	if !over || to.leave == "" {
		return
	}
	s := p.leaving(in, to)
	s.Ended = true
	if failing(p.doc, in, engine.ChecksOf(in.Engine).EndOfLife) {
		return // the check counts it
	}
	severity, since := endOfLifeSeverity(p.doc), later(ended, in.CreatedAt)
	s.Checks = append(s.Checks, EndOfLife)
	s.Findings++
	s.raise(severity)
	s.Weight += Weight(severity)
	s.Deadline = s.Deadline.earlier(DeadlineOf(p.doc, &since, severity))
}

// clearCVEs adds the CVEs of an instance to the step that clears them.
func (p *planner) clearCVEs(in *snapshot.Instance, to upgrades) {
	cves := CVEs(p.doc, in)
	if to.update == "" && to.leave == "" || cves.Open.Total()+cves.Possible.Total() == 0 {
		return
	}
	begin := p.updating
	if to.update == "" {
		begin = p.leaving
	}
	s := begin(in, to)
	s.Possible += cves.Possible.Total()
	s.Exploited = exploited(p.doc, in)
	if len(s.Exploited) > 0 {
		s.raise(Critical)
	}
	if coveredByVersionCheck(p.doc, in) {
		return
	}
	if cves.Open.Total() > 0 {
		s.Checks = append(s.Checks, OpenCVEs)
	}
	s.Findings += cves.Open.Total()
	s.CVEs += cves.Open.Total()
	s.raise(Band(cves.Highest()))
	s.Weight += Weight(Band(cves.Highest()))
	s.Deadline = s.Deadline.earlier(cveDeadline(p.doc, in, cves))
}

// exploited are the CVEs of an instance, open or not ruled out, that are known to be exploited.
func exploited(doc snapshot.Document, in *snapshot.Instance) (ids []string) {
	known := map[string]bool{}
	for _, v := range doc.Vulnerabilities {
		known[v.ID] = v.ExploitedSince != nil
	}
	for _, c := range in.CVEs {
		if c.Applies != snapshot.CVENotExploitable && known[c.ID] {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// cveDeadline is the first deadline of the open CVEs of an instance, or of those that are not ruled out where none is
// open. A CVE counts from its publication, or from the registration of the server if that was later.
func cveDeadline(doc snapshot.Document, in *snapshot.Instance, counts CVECounts) (d Deadline) {
	all := map[string]snapshot.Vulnerability{}
	for _, v := range doc.Vulnerabilities {
		all[v.ID] = v
	}
	wanted := snapshot.CVEUnknown
	if counts.Open.Total() > 0 {
		wanted = snapshot.CVEOpen
	}
	for _, c := range in.CVEs {
		if c.Applies != wanted {
			continue
		}
		v := all[c.ID]
		since := v.Published
		if since != nil {
			at := later(*since, in.CreatedAt)
			since = &at
		}
		d = d.earlier(DeadlineOf(doc, since, Band(v.CVSS)))
	}
	return d
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// endOfLifeSeverity is the severity of a major past its end of life: the catalog's for
// PostgreSQL, High if it has none.
func endOfLifeSeverity(doc snapshot.Document) string {
	if check, ok := catalogueOf(doc)[engine.ChecksOf("postgresql").EndOfLife]; ok {
		return check.Severity
	}
	return High
}

// coveredByVersionCheck says whether a failing check counts the CVEs of an instance one by one.
func coveredByVersionCheck(doc snapshot.Document, in *snapshot.Instance) bool {
	return engine.FixedReleases(in.Engine) && failing(doc, in, engine.ChecksOf(in.Engine).Outdated)
}

func failing(doc snapshot.Document, in *snapshot.Instance, check string) bool {
	return check != "" && slices.ContainsFunc(outcomes(doc, in), func(o outcome) bool { return o.failed && o.check.ID == check })
}
