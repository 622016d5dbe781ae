package analysis

import (
	"fmt"
	"slices"
	"strings"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/sheets"
)

// States of a verdict that are not a severity.
const (
	Clean   = report.StateClean   // everything in scope was looked at, and nothing is wrong
	Unknown = report.StateUnknown // nothing is known to be wrong, and not everything was looked at
	Nothing = report.StateNothing // nothing is in scope
)

// Verdict is what page 1 says before anything else, by one rule for all kinds.
type Verdict struct {
	// State is the highest severity that is known to be wrong. It is Clean only if there is no
	// gap: never green over the unknown.
	State string
	Lead  string // to act upon, with what nobody looked at in the same breath
	Rest  string // whatever else is grave; may be empty
}

// Headline is the first sentence of Lead, which page 1 has before all others, and the rest of it.
func (v Verdict) Headline() (first, rest string) {
	if at := strings.Index(v.Lead, ". "); at >= 0 {
		return v.Lead[:at+1], v.Lead[at+2:]
	}
	return v.Lead, ""
}

// judgement is how one report.Verdict is come to.
type judgement struct {
	words func(outlook) (lead, rest string)
	data  bool // it weighs how sensitive data is kept, too
}

// judgements has every report.Verdict that is not a summary's (package sheets).
func judgements() map[report.Verdict]judgement {
	return map[report.Verdict]judgement{
		report.VerdictOnFindings: {words: outlook.securityWords},
		report.VerdictOnScore:    {words: outlook.scorecardWords},
		report.VerdictOnData:     {words: outlook.inventoryWords, data: true},
	}
}

// Judge returns the verdict of a document. Error: *report.UnknownKindError.
func Judge(doc snapshot.Document) (Verdict, error) {
	kind, err := report.Find(report.Kind(doc.Kind))
	if err != nil {
		return Verdict{}, err
	}
	if sheets.Has(kind) {
		s, err := sheets.Of(doc)
		return Verdict{State: s.State, Lead: s.Lead, Rest: s.Rest}, err
	}
	rule, ok := judgements()[kind.Verdict]
	if !ok {
		return Verdict{}, fmt.Errorf("%s has the verdict %q, of which there are no words", kind.Name, kind.Verdict)
	}
	o := outlookOf(doc, rule.data)
	if kind.Verdict == report.VerdictOnScore && len(doc.Instances) > 0 {
		o.score = HealthScore(doc, &doc.Instances[0])
	}
	v := Verdict{State: o.state()}
	v.Lead, v.Rest = rule.words(o)
	return v, nil
}

// outlook is all that a verdict weighs.
type outlook struct {
	doc       snapshot.Document
	ofData    bool // how sensitive data is kept is weighed, too
	findings  SeverityCounts
	debt      Debt
	accepted  int
	affected  [len(Severities)]int // instances with a finding of that severity
	ended     []string             // instances past their end of life
	score     Score                // of the instance of a scorecard
	cves      CVECounts
	exposed   [2]int   // instances with an open CVE of CVSS 7.0 or more, and those with none but one that is not ruled out
	exploited []string // CVEs on instances, open or not ruled out
	alerts    int      // critical ones that are open
	alerting  []string // instances with one
	unsaved   []string // instances without a recent backup, if no finding of the report says so
	coverage  Assessed
	unknown   int // assessed instances whose version the feed does not know
	cveless   int // assessed instances of a version of which the feed knows no CVE, open or not
	gapped    int // assessed instances of a version of which the feed knows some CVEs and not all
	data      Classified
	high      int // tables of a high risk
	partial   int // tables whose risk may be higher
}

func outlookOf(doc snapshot.Document, ofData bool) outlook {
	groups := Findings(doc)
	o := outlook{
		doc: doc, ofData: ofData, findings: CountBySeverity(groups), debt: DebtOf(doc, groups), accepted: CountBySeverity(Accepted(doc)).Total(),
		cves: AllCVEs(doc), coverage: AssessmentCoverage(doc), data: ClassificationCoverage(doc),
	}
	for i, severity := range Severities {
		o.affected[i] = Affected(groups, severity)
	}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		if _, ok := Ended(doc, in); ok {
			o.ended = append(o.ended, in.Name)
		}
		for _, id := range exploited(doc, in) {
			o.exploited = append(o.exploited, id+" on "+Shorten(in.Name, 80))
		}
		if n, _ := openCritical(doc, in); n > 0 {
			o.alerts += n
			o.alerting = append(o.alerting, in.Name)
		}
		if !ofData && Unsaved(doc, in) {
			o.unsaved = append(o.unsaved, in.Name)
		}
		switch {
		case !reached(in) || CVEsWhole(in) || KeptBy(in) != "":
		case CVEsKnown(in):
			o.gapped++
		case in.Release == nil:
			o.unknown++
		default:
			o.cveless++
		}
		switch c := CVEs(doc, in); {
		case !CVEsKnown(in):
		case c.Open.grave() > 0:
			o.exposed[0]++
		case c.Possible.grave() > 0:
			o.exposed[1]++
		}
	}
	if ofData {
		for _, r := range Risks(doc) {
			if r.Level() == High {
				o.high++
			}
			if r.Partial {
				o.partial++
			}
		}
	}
	return o
}

// reached says whether an instance was looked at.
func reached(in *snapshot.Instance) bool {
	return in.Active && in.Assessment != nil && in.Assessment.Outcome != snapshot.OutcomeUnreachable
}

// Affected counts the instances with a finding of that severity.
func Affected(groups []CheckFindings, severity string) int {
	seen := map[[16]byte]bool{}
	for _, g := range groups {
		if g.Check.Severity != severity {
			continue
		}
		for _, f := range g.Findings {
			seen[f.InstanceID] = true
		}
	}
	return len(seen)
}

// state is the gravest that is wrong, else whether all was looked at.
func (o outlook) state() string {
	grave := ""
	raise := func(n int, severity string) {
		if n > 0 && (grave == "" || Rank(severity) < Rank(grave)) {
			grave = severity
		}
	}
	for i, severity := range Severities {
		raise(o.findings[i], severity)
		raise(o.cves.Open[i], severity)
	}
	raise(len(o.ended), endOfLifeSeverity(o.doc))
	raise(len(o.exploited)+len(o.unsaved), Critical)
	if !o.ofData {
		raise(o.alerts, Critical)
	}
	raise(o.high, High)
	for _, c := range o.score.Caps {
		if c.State == CapApplies && c.Most <= mostGrave {
			raise(1, High)
		}
	}
	switch {
	case grave != "":
		return grave
	case o.coverage.Total == 0:
		return Nothing
	case len(o.gaps()) > 0 || o.cves.Possible.Total() > 0:
		return Unknown
	default:
		return Clean
	}
}

// gaps says what was not looked at, in clauses; none: everything was.
func (o outlook) gaps() []string {
	var gaps []string
	c := o.coverage
	if o.ofData {
		if missing := o.data.Databases - o.data.Completed - o.data.Partial; missing > 0 {
			gaps = append(gaps, of(missing, o.data.Databases, "database", "databases")+" "+was(missing)+" not classified")
		}
		if o.data.Partial > 0 {
			gaps = append(gaps, Plural(o.data.Partial, "database", "databases")+" "+was(o.data.Partial)+" classified only in part")
		}
		if empty := o.unlisted(); empty > 0 {
			gaps = append(gaps, "no database of "+Plural(empty, "instance", "instances")+" is known")
		}
		if o.partial > 0 {
			gaps = append(gaps, "the risk of "+Plural(o.partial, "table", "tables")+" may be higher because some of its inputs could not be read")
		}
	}
	if missing := c.Total - c.Assessed; missing > 0 && c.Assessed == 0 {
		gaps = append(gaps, "no instance could be assessed")
	} else if missing > 0 {
		not := " not assessed"
		if o.ofData { // the data of some of them may be classified
			not = " not checked for security"
		}
		gaps = append(gaps, of(missing, c.Total, "instance", "instances")+" "+was(missing)+not)
	}
	if c.Gaps > 0 && o.partial == 0 { // else it is told by what it does to the risk
		gaps = append(gaps, of(c.Gaps, c.Gaps+c.Answers, "check run", "check runs")+" gave no result"+onOthers(c))
	}
	if o.unknown > 0 {
		gaps = append(gaps, "the feed does not know the version of "+Plural(o.unknown, "assessed instance", "assessed instances"))
	}
	if o.cveless > 0 {
		gaps = append(gaps, "the feed has no CVEs for the engine of "+Plural(o.cveless, "assessed instance", "assessed instances"))
	}
	if o.gapped > 0 {
		gaps = append(gaps, "CVE coverage is incomplete for "+Plural(o.gapped, "assessed instance", "assessed instances"))
	}
	return gaps
}

// onOthers says where check runs gave no result, if some instances were not assessed at all.
func onOthers(c Assessed) string {
	if c.Total > c.Assessed {
		return " on the others"
	}
	return ""
}

// noneOf is the verdict on a scope without any assessment.
func noneOf(instances int) string {
	if instances == 1 {
		return "The instance could not be assessed."
	}
	return "None of the " + itoa(instances) + " instances in scope could be assessed."
}

// unlisted counts instances without a database to classify.
func (o outlook) unlisted() int {
	return len(slices.DeleteFunc(slices.Clone(o.doc.Instances), func(in snapshot.Instance) bool { return len(in.Databases) > 0 }))
}

// gapSentence says what was not assessed; empty: everything was.
func (o outlook) gapSentence() string {
	gaps := o.gaps()
	if len(gaps) == 0 {
		return ""
	}
	return " " + sentence(and(gaps))
}

// versionWords are the end of life and the CVEs, which no check has to speak of.
func (o outlook) versionWords() []string {
	var out []string
	if n := len(o.ended); n > 0 {
		runs := Plural(n, "instance runs", "instances run") + " a major version past its end of life: " + some(o.ended, 3) + "."
		if o.coverage.Total == 1 {
			runs = "The server runs a major version past its end of life."
		}
		out = append(out, runs)
	}
	if n := o.alerts; n > 0 && !o.ofData {
		words := Plural(n, "critical alert is", "critical alerts are") + " open"
		if o.coverage.Total > 1 {
			words += " on " + some(o.alerting, 3)
		}
		out = append(out, words+".")
	}
	if len(o.unsaved) > 0 {
		out = append(out, "No recent backup of "+o.unsavedWords()+".")
	}
	if len(o.exploited) > 0 {
		out = append(out, "Known to be exploited: "+some(o.exploited, 3)+".")
	}
	if n := o.cves.Open.grave(); n > 0 {
		out = append(out, Plural(n, "open CVE", "open CVEs")+" of CVSS 7.0 or more "+concern(n)+" "+o.exposedWords()+".")
	}
	if n := o.cves.Possible.grave(); n > 0 {
		further := ""
		if o.cves.Open.grave() > 0 {
			further = "further "
		}
		out = append(out, Plural(n, further+"CVE", further+"CVEs")+" of CVSS 7.0 or more "+is(n)+" not ruled out.")
	}
	return out
}

// unsavedWords are the servers without a recent backup.
func (o outlook) unsavedWords() string {
	if o.coverage.Total == 1 {
		return "the server"
	}
	return some(o.unsaved, 3)
}

// findingWords are the findings by the action that they need.
func (o outlook) findingWords() []string {
	var out []string
	if n := o.debt.Grave(); n > 0 {
		out = append(out, Plural(n, "critical or high finding is", "critical and high findings are")+" overdue"+o.onOwed()+".")
	}
	for i, s := range []struct{ severity, ask string }{{Critical, "must be closed"}, {High, "should be closed"}} {
		if n := o.findings[i]; n > 0 {
			word := strings.ToLower(s.severity)
			ask := s.ask + " within " + Plural(DueDays(o.doc, s.severity), "day", "days") + " of " + One(n, "its", "their") + " first sight"
			if o.debt.Grave() > 0 {
				ask = is(n) + " open"
			}
			out = append(out, Plural(n, word+" finding", word+" findings")+o.onAffected(i)+" "+ask+".")
		}
	}
	if n := o.findings[2] + o.findings[3]; n > 0 {
		out = append(out, Plural(n, "lesser finding", "lesser findings")+" can be planned.")
	}
	return out
}

// onOwed says which servers owe most; a report of one instance need not say it.
func (o outlook) onOwed() string {
	owed := o.debt.Servers
	if o.coverage.Total == 1 || len(owed) == 0 {
		return ""
	}
	if len(owed) == 1 {
		return " on " + Shorten(owed[0].Name, 80)
	}
	return ", " + itoa(owed[0].N+owed[1].N) + " of them on " + Shorten(owed[0].Name, 80) + " and " + Shorten(owed[1].Name, 80)
}

// onAffected says how many of the assessed instances have such a finding; a report of one
// instance need not say on which.
func (o outlook) onAffected(rank int) string {
	n, all := o.affected[rank], o.coverage.Assessed
	switch {
	case o.coverage.Total == 1:
		return ""
	case all == 1:
		return " on the assessed instance"
	case n == all:
		return " on all " + itoa(all) + " assessed instances"
	default:
		return " on " + itoa(n) + " of " + itoa(all) + " assessed instances"
	}
}

// exposedWords are the instances that grave CVEs concern.
func (o outlook) exposedWords() string {
	if o.coverage.Total == 1 {
		return "the server"
	}
	return Plural(o.exposed[0], "instance", "instances")
}

// Beside says how many findings are accepted and so not counted.
func Beside(accepted int) string {
	if accepted == 0 {
		return ""
	}
	return ", " + itoa(accepted) + " accepted apart"
}

func (o outlook) securityWords() (lead, rest string) {
	c := o.coverage
	if c.Total == 0 {
		return "No instance is in scope, so nothing was assessed.", ""
	}
	words := o.findingWords()
	versions := o.versionWords()
	late := 0 // words about debt come first
	if o.debt.Grave() > 0 {
		late = 1
	}
	switch {
	case c.Assessed == 0:
		words = append([]string{noneOf(c.Total)}, versions...)
		return words[0], strings.Join(words[1:], " ")
	case len(words) == 0 && len(versions) == 0:
		words = []string{"No findings on " + Plural(c.Assessed, "assessed instance", "assessed instances") + Beside(o.accepted) + "."}
	case o.findings[0] > 0: // before everything else
		words = slices.Insert(words, late+1, versions...)
	default: // a version without fixes is as urgent as a high finding, and comes after it
		words = slices.Insert(words, min(len(words), late+min(o.findings[1], 1)), versions...)
	}
	return words[0] + o.gapSentence(), strings.Join(words[1:], " ")
}

func (o outlook) scorecardWords() (lead, rest string) {
	if len(o.doc.Instances) == 0 {
		return "No instance is in scope, so there is no score.", ""
	}
	in := &o.doc.Instances[0]
	s := o.score
	words := append(o.findingWords(), o.versionWords()...)
	if !s.Known {
		return Unscored(o.doc, in), strings.Join(words, " ")
	}
	lead = Shorten(in.Name, 80) + " scores " + ScoreWords(s)
	lead += "." + o.gapSentence()
	if len(s.Lost) > 0 {
		lost := s.Lost[0]
		words = append(words, "The gravest failed check is “"+Shorten(lost.Check.Title, 90)+"”.")
	}
	if n := o.accepted; n > 0 {
		words = append(words, Plural(n, "finding is accepted and costs", "findings are accepted and cost")+" no points.")
	}
	return lead, strings.Join(words, " ")
}

// Unscored says why an instance has no score.
func Unscored(doc snapshot.Document, in *snapshot.Instance) string {
	name := Shorten(in.Name, 80)
	if why := WhyNotChecked(in); why != "" {
		return name + " has no score: " + why + "."
	}
	if CountBySeverity(Accepted(doc)).Total() > 0 {
		return name + " has no score: all results are accepted."
	}
	return name + " has no score: no check could be run."
}

func (o outlook) inventoryWords() (lead, rest string) {
	classified := o.data.Completed + o.data.Partial
	switch tables := o.data.SensitiveTables; {
	case o.data.Databases == 0:
		lead = "No database is in scope, so nothing was classified."
	case classified == 0:
		lead = "No database in scope has been classified, so its sensitive data is not known."
	case o.high > 0:
		lead = Plural(o.high, "table", "tables") + " with sensitive data " + carry(o.high) + " a high risk, of " +
			Plural(tables, "sensitive table", "sensitive tables") + " found in " + Plural(classified, "classified database", "classified databases") + "."
	case tables > 0:
		lead = Plural(tables, "table holds", "tables hold") + " sensitive data in " + Plural(classified, "classified database", "classified databases") + ", none of a high risk as far as it is known."
	default:
		lead = "No sensitive data was found in " + Plural(classified, "classified database", "classified databases") + "."
	}
	if own := o.data.OwnTables; own > 0 {
		lead += " " + Plural(own, "further table is", "further tables are") + " Muster's own."
	}
	lead += o.gapSentence()
	words := o.versionWords()
	for i, name := range []string{"critical", "high"} {
		if n := o.findings[i]; n > 0 {
			words = append(words, Plural(n, name+" security finding", name+" security findings")+" "+is(n)+" open"+o.onAffected(i)+".")
		}
	}
	if len(words) == 0 {
		return lead, ""
	}
	return lead, "The servers themselves: " + strings.Join(words, " ") + " A Security report of this scope has the details."
}
