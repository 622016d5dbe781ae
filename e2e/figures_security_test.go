package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// security takes a Security report back, part by part.
func (p *paper) security() {
	p.front()
	p.verdict()
	p.riskMap()
	p.trend()
	p.severities()
	p.versions()
	p.cards()
	p.exceptions()
	p.people()
	p.plan()
	p.coverage()
	p.frameworks()
	p.findingsTable()
}

// front are the five figures of page 1.
func (p *paper) front() {
	open, accepted := p.still("Security", nil), p.standing("Security", nil, true)
	late := those(open, func(f *drawnFinding) bool { return grave(f) && p.due(f).Before(p.asOf) })
	beside := ""
	if n := len(accepted); n > 0 {
		beside = fmt.Sprintf(", %d accepted apart", n)
	}
	p.says("page 1: findings", "1", "CRITICAL AND HIGH %d† of %s%s", len(those(open, grave)), count(len(open), "finding", "findings"), beside)
	longest := 0
	for _, f := range open {
		longest = max(longest, lateBy(p.due(f), p.asOf))
	}
	if len(late) > 0 {
		p.says("page 1: overdue", "1", "OVERDUE %d by %s at most", len(late), count(longest, "day", "days"))
	} else {
		p.says("page 1: overdue", "1", "OVERDUE 0 of the critical and high findings")
	}
	blind := 0
	for _, s := range p.assessed() {
		blind += len(p.blindIn(s, "Security"))
	}
	p.says("page 1: coverage", "1", "NOT ASSESSED %d / %d %s not run elsewhere", len(p.servers)-len(p.assessed()), len(p.servers), count(blind, "check", "checks"))
	ended, ending := 0, 0
	for _, s := range p.servers {
		switch end := p.releaseOf(s).end; {
		case !end.After(p.asOf):
			ended++
		case end.Before(p.asOf.AddDate(1, 0, 0)):
			ending++
		}
	}
	note := "none more within a year"
	if ending > 0 {
		note = fmt.Sprintf("%d more within a year", ending)
	}
	p.says("page 1: support", "1", "OUT OF SUPPORT %d %s", ended, note)
	known := different(p.cves("", "open"), cveID)
	possible := 0
	for id := range different(p.cves("", "notRuledOut"), cveID) {
		if known[id] == nil {
			possible++
		}
	}
	p.says("page 1: CVEs", "1", "OPEN CVES %d† to CVSS %.1f; %d more not ruled out", len(known), highest(p.cves("", "open")), possible)
}

// verdict are the sentences above them.
func (p *paper) verdict() {
	open, all := p.still("Security", nil), len(p.assessed())
	late := those(open, func(f *drawnFinding) bool { return grave(f) && p.due(f).Before(p.asOf) })
	owes := different(late, serverOf)
	names := sortedKeys(owes)
	slices.SortStableFunc(names, func(a, b string) int { return len(owes[b]) - len(owes[a]) })
	switch {
	case len(names) > 1:
		p.says("verdict: overdue", "1", "%s overdue, %d of them on %s and %s.", count(len(late), "critical or high finding is", "critical and high findings are"), len(owes[names[0]])+len(owes[names[1]]), names[0], names[1])
	case len(names) == 1:
		p.says("verdict: overdue", "1", "%s overdue on %s.", count(len(late), "critical or high finding is", "critical and high findings are"), names[0])
	}
	for _, severity := range []string{"Critical", "High"} {
		found := those(open, func(f *drawnFinding) bool { return f.check.Severity == severity })
		if len(found) == 0 {
			continue
		}
		word, on := strings.ToLower(severity), fmt.Sprintf("%d of %d", len(different(found, serverOf)), all)
		if len(different(found, serverOf)) == all {
			on = fmt.Sprintf("all %d", all)
		}
		asked := map[bool]string{true: "open", false: "‹"}[len(late) > 0]
		p.says("verdict: findings", "1", "%s on %s assessed instances ‹%s.", count(len(found), word+" finding", word+" findings"), on, asked)
	}
	if lesser := len(open) - len(those(open, grave)); lesser > 0 {
		p.says("verdict: findings", "1", "%s can be planned.", count(lesser, "lesser finding", "lesser findings"))
	}
	high := those(p.cves("", "open"), func(row map[string]string) bool { return row["severity"] == "High" || row["severity"] == "Critical" })
	if n := len(different(high, cveID)); n > 1 {
		p.says("verdict: CVEs", "1", "%d open CVEs of CVSS 7.0 or more concern %s.", n, count(len(different(high, func(row map[string]string) string { return row["instance"] })), "instance", "instances"))
	}
	var exploited []string
	for _, row := range p.tables["cves.csv"] {
		if row["exploitedSince"] != "" && row["applies"] != "notExploitable" {
			exploited = append(exploited, row["cveId"]+" on "+row["instance"])
		}
	}
	if len(exploited) > 0 {
		p.says("verdict: CVEs", "1", "Known to be exploited: %s.", firstNames(exploited, 3))
	}
	var ended []string
	for _, s := range p.servers {
		if !p.releaseOf(s).end.After(p.asOf) {
			ended = append(ended, s.name)
		}
	}
	slices.Sort(ended)
	if len(ended) > 0 {
		p.says("verdict: support", "1", "%s a major version past its end of life: %s.", count(len(ended), "instance runs", "instances run"), firstNames(ended, 3))
	}
	blind, answers := 0, 0
	for _, s := range p.assessed() {
		blind, answers = blind+len(p.blindIn(s, "Security")), answers+p.results(s, "Security", "")
	}
	p.says("verdict: coverage", "1", "%d of %d instances were not assessed", len(p.servers)-all, len(p.servers))
	if blind > 1 {
		p.says("verdict: coverage", "1", "%d of %d check runs gave no result on the others", blind, blind+answers)
	}
}

// areaOfControl has the columns of the map by the control of ISO/IEC 27001 that a check refers to.
var areaOfControl = map[string]int{
	"A.5.17": 0, "A.8.5": 0, "A.8.2": 1, "A.8.3": 1, "A.5.18": 1, "A.8.18": 1, "A.8.24": 2, "A.8.9": 3, "A.8.20": 3, "A.8.28": 3, "A.8.15": 4, "A.8.16": 4, "A.8.8": 5,
}

func (c knownCheck) area() int {
	for _, r := range c.References {
		if area, known := areaOfControl[r.ID]; known && r.Source == "ISO 27001" {
			return area
		}
	}
	return 3
}

// riskMap are the rows of “Where the risk is”.
func (p *paper) riskMap() {
	for _, s := range p.servers {
		end := p.releaseOf(s).end
		support := end.Format("Jan 2006")
		if !end.After(p.asOf) {
			support += ", over"
		}
		row := "‹"
		if slices.Contains(p.assessed(), s) {
			row = p.cells(s)
		}
		p.says("map of servers", "1", "%s %s %s %s", s.name, row, support, p.openWords(s))
	}
}

// cells are how a server stands in the six areas.
func (p *paper) cells(s *drawnServer) string {
	answered, unanswered, failed := [6]int{}, [6]int{}, [6][4]int{}
	failing, accepted := different(p.still("Security", s), checkOf), different(p.standing("Security", s, true), checkOf)
	for id, c := range p.checks {
		switch {
		case c.Engine != s.engine || c.Domain != "Security":
		case slices.Contains(s.blind, id):
			unanswered[c.area()]++
		case failing[id] != nil:
			answered[c.area()]++
			failed[c.area()][severityRank(c.Severity)]++
		case accepted[id] == nil || c.Scope == "database" && len(different(accepted[id], func(f *drawnFinding) string { return f.database })) < len(s.databases):
			answered[c.area()]++
		}
	}
	var cells []string
	for i := range answered {
		words := "0"
		for rank, n := range failed[i] {
			if n > 0 {
				words = fmt.Sprintf("%d %s", failed[i][0]+failed[i][1]+failed[i][2]+failed[i][3], "CHML"[rank:rank+1])
				break
			}
		}
		switch {
		case answered[i] == 0 && unanswered[i] > 0:
			words = fmt.Sprint(unanswered[i])
		case answered[i] == 0:
			words = "–"
		}
		cells = append(cells, words)
	}
	return strings.Join(cells, " ")
}

// openWords are the CVEs of a server as the map counts them.
func (p *paper) openWords(s *drawnServer) string {
	open, possible := p.cves(s.name, "open"), p.cves(s.name, "notRuledOut")
	switch {
	case len(open) > 0 && len(possible) > 0:
		return fmt.Sprintf("%d + %d? %.1f", len(open), len(possible), highest(open))
	case len(open) > 0:
		return fmt.Sprintf("%d %.1f", len(open), highest(open))
	case len(possible) > 0 && s.engine == "postgresql":
		return fmt.Sprintf("0 + %d? %.1f?", len(possible), highest(possible))
	case len(possible) > 0:
		return fmt.Sprintf("%d? %.1f?", len(possible), highest(possible))
	case s.engine == "postgresql":
		return "0 –"
	}
	return "none known –"
}

// trend compares with 30 and 90 days before: what was open then, what has been closed since, and what is new.
func (p *paper) trend() {
	began := p.asOf
	for _, s := range p.assessed() {
		for _, f := range s.findings {
			if p.seen(f).Before(began) {
				began = p.seen(f)
			}
		}
		if first := p.at(s, p.first(s)); len(s.blind) > 0 && first.Before(began) {
			began = first
		}
	}
	for _, days := range []int{30, 90} {
		at := p.asOf.Add(-time.Duration(days) * 24 * time.Hour)
		if began.After(at) {
			p.says("trend", "1", "Since %s no history before %s", day(at), day(began))
			continue
		}
		var then, closed, fresh, joined, late int
		for _, s := range p.assessed() {
			for _, f := range s.findings {
				gone := f.to < len(p.looks)
				if !grave(f) || f.check.Domain != "Security" || f.accepted {
					continue
				}
				switch was := !p.seen(f).After(at) && (!gone || p.at(s, f.to).After(at)); {
				case was:
					then++
					if gone {
						closed++
					}
					if p.due(f).Before(at) {
						late++
					}
				case !gone:
					fresh++
					if s.registered.After(at) {
						joined++
					}
				}
			}
		}
		on := ""
		if joined > 0 {
			on = fmt.Sprintf(" (%d on new servers)", joined)
		}
		p.says("trend", "1", "Since %s Critical and high: %d then, %d overdue; %d closed, %d new%s", day(at), then, late, closed, fresh, on)
	}
}

// severities is the table of the summary, with the sentences around it.
func (p *paper) severities() {
	const section = "Summary"
	open, accepted := p.still("Security", nil), p.standing("Security", nil, true)
	checks, blind, answers := map[string]bool{}, 0, 0
	for _, s := range p.assessed() {
		blind, answers = blind+len(p.blindIn(s, "Security")), answers+p.results(s, "Security", "")
		for id, c := range p.checks {
			if c.Engine == s.engine && c.Domain == "Security" && !slices.Contains(s.blind, id) {
				checks[id] = true
			}
		}
	}
	p.says("summary: scope", section, "%d instances are in scope: %d assessed, 1 without an assessment, 1 with an engine that Muster has no checks for, 1 inactive.", len(p.servers), len(p.assessed()))
	p.says("summary: scope", section, "%d Security checks of catalogue ‹ gave %s for instances and their databases; %s not run.", len(checks), count(answers, "result", "results"), count(blind, "check", "checks"))
	for _, severity := range []string{"Critical", "High", "Medium", "Low"} {
		is := func(f *drawnFinding) bool { return f.check.Severity == severity }
		found := those(open, is)
		late := those(found, func(f *drawnFinding) bool { return p.due(f).Before(p.asOf) })
		p.says("summary: severities", section, "%s %d† %d %d %d days %d %d", severity, len(found), len(different(found, checkOf)), len(different(found, serverOf)), p.dueDays[severity], len(late), len(those(accepted, is)))
	}
	var missing []string
	recent := 0
	for _, s := range p.assessed() {
		id := map[string]string{"sqlserver": "MS-16", "oracle": "OR-15"}[s.engine]
		switch {
		case id == "" || slices.Contains(s.blind, id):
		case len(those(p.still("", s), func(f *drawnFinding) bool { return f.check.ID == id })) > 0:
			missing = append(missing, s.name)
		default:
			recent++
		}
	}
	words := ""
	if n := len(missing); n > 0 {
		words = fmt.Sprintf("%s no recent one (%s; the scorecard has the finding and its fix), ", count(n, "server has", "servers have"), strings.Join(missing, ", "))
	}
	p.change()
	p.says("summary: backups", section, "Backups: %s%s one. Of %s no check tells it.", words, count(recent, "server has", "servers have"), count(len(p.servers)-recent-len(missing), "server", "servers"))
}

// change is what has become of the findings of the report before, which the last look but one found.
func (p *paper) change() {
	const section = "Summary"
	if p.before == nil {
		p.says("summary: change", section, "There is no earlier Security report of this scope to compare with.")
		return
	}
	var fresh, closed, same, accepted int
	for _, s := range p.assessed() {
		for _, f := range s.findings {
			last := len(p.looks) - 1
			was, is := f.from < last && f.to >= last, f.to > last
			switch {
			case f.check.Domain != "Security":
			case was && is && f.accepted:
				accepted++
			case was && is:
				same++
			case was:
				closed++
			case is && !f.accepted:
				fresh++
			}
		}
	}
	words := fmt.Sprintf("%s, %d closed, %d unchanged", count(fresh, "new finding", "new findings"), closed, same)
	if accepted > 0 {
		words += fmt.Sprintf(", %d accepted since", accepted)
	}
	p.says("summary: change", section, "Since the report of %s (request %s): %s.", minute(p.before.asOf), p.before.id, words)
}
