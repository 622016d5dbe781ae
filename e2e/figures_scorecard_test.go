package e2e

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// scorecard takes a scorecard back.
func (p *paper) scorecard() {
	p.facts()
	p.score()
	p.alertHistory()
	p.utilization()
	p.plan()
	p.findingsTable()
}

// checkState is how a check stands on the server.
type checkState struct {
	failed, accepted, answered, blind bool
	cost                              float64
}

var severityWeight = map[string]float64{"Critical": 20, "High": 8, "Medium": 3, "Low": 1}

// stateOf adds up a check over the databases of a server.
func (d *drawn) stateOf(s *drawnServer, c knownCheck) (state checkState) {
	if slices.Contains(s.blind, c.ID) {
		return checkState{blind: true}
	}
	failing, accepted, all := map[string]bool{}, map[string]bool{}, 1
	for _, f := range s.findings {
		if f.check.ID != c.ID || f.to < len(d.looks) {
			continue
		}
		if f.accepted {
			accepted[f.database] = true
		} else {
			failing[f.database] = true
		}
	}
	if c.Scope == "database" {
		all = len(s.databases)
	}
	for database := range accepted {
		if !failing[database] { // everything that it found there is accepted
			state.accepted = true
			all--
		}
	}
	state.failed, state.answered = len(failing) > 0, all > 0
	if state.failed {
		state.cost = severityWeight[c.Severity] * (0.5 + 0.5*float64(len(failing))/float64(all))
	}
	return state
}

// lost is a failed check with its points.
type lost struct {
	check       knownCheck
	ofAll, ofIt float64
}

// scored is the score of a server by the rules that its scorecard prints.
type scored struct {
	uncapped int
	domains  map[string]*scoredDomain
	lost     []lost
	failed   [4]int
}

type scoredDomain struct {
	weight, total, cost                       float64
	failed, passed, blind, accepted, answered int
}

func (d *drawn) scoreOf(s *drawnServer) scored {
	out := scored{domains: map[string]*scoredDomain{}}
	for name, weight := range map[string]float64{"Security": 30, "Performance": 25, "Maintenance": 20, "Configuration": 15, "Schema": 10} {
		out.domains[name] = &scoredDomain{weight: weight}
	}
	for _, id := range sortedKeys(d.checks) {
		c := d.checks[id]
		if c.Engine != s.engine {
			continue
		}
		domain, state := out.domains[c.Domain], d.stateOf(s, c)
		switch {
		case state.blind:
			domain.blind++
			continue
		case state.failed:
			domain.failed++
			out.failed[severityRank(c.Severity)]++
			out.lost = append(out.lost, lost{check: c, ofIt: state.cost})
		case state.accepted:
			domain.accepted++
		default:
			domain.passed++
		}
		if state.answered {
			domain.answered++
			domain.total += severityWeight[c.Severity]
			domain.cost += state.cost
		}
	}
	weights, mean := 0.0, 0.0
	for _, domain := range out.domains {
		if domain.total > 0 {
			weights += domain.weight
		}
	}
	for _, name := range sortedKeys(out.domains) {
		if domain := out.domains[name]; domain.total > 0 {
			mean += (100 - 100*domain.cost/domain.total) * domain.weight / weights
		}
	}
	out.uncapped = int(math.Round(mean))
	for i := range out.lost {
		l := &out.lost[i]
		l.ofIt *= 100 / out.domains[l.check.Domain].total
		l.ofAll = l.ofIt * out.domains[l.check.Domain].weight / weights
	}
	slices.SortFunc(out.lost, func(a, b lost) int {
		return cmp.Or(severityRank(a.check.Severity)-severityRank(b.check.Severity), cmp.Compare(b.ofAll, a.ofAll), strings.Compare(a.check.ID, b.check.ID))
	})
	return out
}

// caps are the rows of what holds the score down.
func (p *paper) caps(s scored) (most int) {
	most = 100
	row := func(name string, at int, state, because string) {
		p.says("score: caps", "1", "%s at most %d %s %s", name, at, state, because)
		if state == "applies" {
			most = min(most, at)
		}
	}
	states := map[bool]string{true: "applies", false: "does not apply"}
	fails := func(n int, severity string) string {
		if n == 0 {
			return "no " + severity + " check fails"
		}
		return count(n, severity+" check fails", severity+" checks fail")
	}
	row("Failed critical check", 59, states[s.failed[0] > 0], fails(s.failed[0], "critical"))
	row("Five failed high checks", 69, states[s.failed[1] >= 5], fails(s.failed[1], "high"))
	row("Failed high check", 89, states[s.failed[1] > 0], fails(s.failed[1], "high"))
	open, critical := p.openAlerts()
	because := "no critical alert is open"
	if critical > 0 {
		because = count(critical, "critical alert is", "critical alerts are") + " open"
	}
	row("Open critical alert", 69, states[critical > 0], because)
	note := "none critical"
	if critical > 0 {
		note = fmt.Sprintf("%d critical", critical)
	}
	p.says("page 1: alerts", "1", "%s %d %s", map[bool]string{true: "OPEN ALERT", false: "OPEN ALERTS"}[open == 1], open, note)
	end := p.releaseOf(p.subject).end
	because = "supported until " + day(end)
	if !end.After(p.asOf) {
		because = "support ended on " + day(end)
	}
	row("Past end of support", 69, states[!end.After(p.asOf)], because)
	backup, of := map[string]string{"sqlserver": "MS-16", "oracle": "OR-15"}[p.subject.engine], ""
	if backup != "" {
		of = " of " + p.subject.databases[0].name
	}
	switch state, age := p.stateOf(p.subject, p.checks[backup]), p.asOf.Sub(p.backedUp); {
	case age > 24*time.Hour:
		old := fmt.Sprintf("%d h %d min", int(age.Hours()), int(age.Minutes())%60)
		if int(age.Minutes())%60 == 0 {
			old = fmt.Sprintf("%d hours", int(age.Hours()))
		}
		if age >= 48*time.Hour {
			old = fmt.Sprintf("%d days", int(age/day24))
		}
		row("No recent backup", 59, "applies", fmt.Sprintf("newest backup%s is %s old, RPO 24 h", of, old))
	case backup != "" && state.failed:
		row("No recent backup", 59, "applies", backup+" fails")
	default:
		row("No recent backup", 59, "does not apply", "the backups are within the RPO of 24 h")
	}
	because = fmt.Sprintf("the fullest volume is at %.1f%%", p.host.disk[len(p.host.disk)-1])
	full := math.Round(10*p.daysUntilFull()) / 10
	switch {
	case full > 7:
	case full < 1.5:
		because += ", full in about a day"
	default:
		because += fmt.Sprintf(", full in about %.0f days", full)
	}
	row("Volume full within 7 days", 69, states[full <= 7], because)
	return most
}

// openAlerts are those of the API that are open and not muted.
func (p *paper) openAlerts() (all, critical int) {
	var listed struct {
		Items []struct {
			Severity, State string
			IsMuted         bool
		}
	}
	p.ana.get(p.T, "/api/v1/alerts?pageSize=100&instanceId="+p.subject.id.String(), &listed)
	for _, a := range listed.Items {
		if a.State == "Open" && !a.IsMuted {
			all++
			if a.Severity == "critical" {
				critical++
			}
		}
	}
	return all, critical
}

// score is the score with its domains, its caps and what was lost.
func (p *paper) score() {
	s := p.scoreOf(p.subject)
	is := min(s.uncapped, p.caps(s))
	grade := "F"
	for _, g := range []struct {
		letter string
		from   int
	}{{"A", 90}, {"B", 80}, {"C", 70}, {"D", 60}, {"E", 40}} {
		if is >= g.from {
			grade = g.letter
			break
		}
	}
	lead := fmt.Sprintf("%s scores %d of 100, grade %s", p.subject.name, is, grade)
	if is < s.uncapped {
		lead += fmt.Sprintf(": %d by its checks, capped at %d because", s.uncapped, is)
	}
	p.says("score", "1", "%s", lead)
	p.says("score", "Overall health", "%s", lead)
	p.says("score: caps", "1", "Score caps without caps: %d", s.uncapped)
	failed, answered, blind := 0, 0, 0
	var health struct {
		Domains []struct {
			Name                        string
			Score                       *float64
			Failed, Passed, NotAssessed int
		}
	}
	p.ana.get(p.T, "/api/v1/instances/"+p.subject.id.String()+"/health", &health)
	for name, domain := range s.domains {
		failed, answered, blind = failed+domain.failed, answered+domain.answered, blind+domain.blind
		points := 0.0
		for _, l := range s.lost {
			if l.check.Domain == name {
				points += l.ofAll
			}
		}
		p.says("score: results", "Detailed results", "%s %d %d %d %d 0 %s", name, domain.failed, domain.passed, domain.blind, domain.accepted, decimal(points))
		if domain.total == 0 {
			continue
		}
		note := ""
		if domain.blind > 0 {
			note = fmt.Sprintf(", %d not assessed", domain.blind)
		}
		p.says("score: domains", "Overall health", "%s %s %d of %s, weight %.0f%s", name, decimal(100-100*domain.cost/domain.total), domain.failed, count(domain.answered, "check fails", "checks fail"), domain.weight, note)
		for _, of := range health.Domains {
			if of.Name == name {
				p.agrees("score: API", fmt.Sprintf("%d %d", of.Failed, of.NotAssessed), fmt.Sprintf("%d %d", domain.failed+domain.accepted, domain.blind)) // it has the exceptions of the last look
			}
		}
	}
	p.says("page 1: checks", "1", "%s %d of %s with an answer", map[bool]string{true: "FAILED CHECK", false: "FAILED CHECKS"}[failed == 1], failed, count(answered, "check", "checks"))
	p.says("page 1: checks", "1", "NOT ASSESSED %d not part of the score", blind)
	for _, l := range s.lost[:min(5, len(s.lost))] {
		p.says("score: points lost", "Overall health", "%s %s %s %s %s %s", l.check.Severity, l.check.ID, l.check.Title, l.check.Domain, decimal(l.ofIt), decimal(l.ofAll))
	}
	if len(s.lost) == 0 {
		return
	}
	p.says("score", "1", "The gravest failed check is “%s”.", s.lost[0].check.Title)
}
