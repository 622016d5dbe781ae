package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// action is what closes several findings of a server.
type action struct {
	server  *drawnServer
	summary string
}

// plan are the actions that findings of checks ask for, with the numbers that findings.csv gives them.
func (p *paper) plan() {
	versions := p.planned() + p.ended()
	for to, all := range different(p.still(p.domain(), p.about), func(f *drawnFinding) action { return action{f.server, f.check.Remediation.Summary} }) {
		number := ""
		for _, row := range p.tables["findings.csv"] {
			if row["instance"] == to.server.name && row["checkId"] == all[0].check.ID && row["status"] == "open" {
				number = row["step"]
			}
		}
		checks := sortedKeys(different(all, checkOf))
		title := all[0].check.Title
		if len(checks) > 1 { // the plan is by what closes them, and the title that of one of them
			title = "«"
		}
		objects := sortedKeys(different(all, func(f *drawnFinding) string { return f.object }))
		words := strings.Join(checks, ", ")
		if len(all) > 1 {
			words += fmt.Sprintf(" (%d)", len(all))
		}
		worst := slices.MinFunc(all, func(a, b *drawnFinding) int { return severityRank(a.check.Severity) - severityRank(b.check.Severity) }).check.Severity
		first := slices.MinFunc(all, func(a, b *drawnFinding) int { return p.due(a).Compare(p.due(b)) })
		late := ""
		if n := lateBy(p.due(first), p.asOf); n > 0 {
			late = " " + count(n, "day", "days") + " overdue"
		}
		where := ""
		if p.about == nil {
			where = " " + to.server.name + " " + cmp.Or(to.server.owner, "no owner")
		}
		place, _ := strconv.Atoi(number)
		if severityRank(worst) < 2 && place <= map[bool]int{true: 15, false: 12}[p.about == nil]-versions { // the others are printed if there is room
			p.says("plan", "Remediation plan", "%s %s: %s %s · %s · effort ‹%s %s %s%s", number, title, firstNames(objects, 2), worst, words, where, day(p.seen(first)), day(p.due(first)), late)
		}
		if place <= 5 && p.about == nil {
			p.says("first actions", "1", "%s %.18s‹: %s %s · %s · effort ‹ %s %s%s", number, title, firstNames(objects, 2), worst, to.server.name, cmp.Or(to.server.owner, "no owner"), day(p.due(first)), late)
		}
	}
	for _, s := range p.servers { // whose support has ended
		r := p.releaseOf(s)
		if r.end.After(p.asOf) || p.about != nil && p.about != s {
			continue
		}
		where := ""
		if p.about == nil {
			where = " " + s.name + " " + cmp.Or(s.owner, "no owner")
		}
		since, due := p.toLeave(s, r)
		p.says("plan: end of support", "Remediation plan", "Leave ‹ %s, out of support since %s: upgrade to ‹ · ‹ · effort L, restart%s %s %s", r.major, day(r.end), where, since, day(due))
	}
	p.numbers()
}

// planned says which servers of the document lose their support within a year: their upgrade is a step of its own.
func (p *paper) planned() (ending int) {
	for _, s := range p.servers {
		if r := p.releaseOf(s); (p.about == nil || p.about == s) && r.end.After(p.asOf) && r.end.Before(p.asOf.AddDate(1, 0, 0)) {
			ending++
			if s.engine == "postgresql" && !s.inactive {
				p.says("plan: before the end of support", "Remediation plan", "Plan the upgrade of PostgreSQL %s to ‹, before its support ends ‹ %s", r.major, day(r.end))
			}
		}
	}
	return ending
}

// ended is how many servers of the document run a version out of support: leaving it is a step of its own.
func (p *paper) ended() (n int) {
	for _, s := range p.servers {
		if (p.about == nil || p.about == s) && !p.releaseOf(s).end.After(p.asOf) {
			n++
		}
	}
	return n
}

// toLeave is since when a server has to leave its major version, and until when: since the end of its support, or since a
// CVE is known for which there is no update.
func (p *paper) toLeave(s *drawnServer, r release) (since string, due time.Time) {
	at := later(r.end, s.registered)
	since, due = day(at), at.Add(time.Duration(p.dueDays["High"])*day24)
	if r.latest != "not known" && !strings.HasPrefix(r.latest, s.version) { // an update comes first
		return since, due
	}
	concern := p.cves(s.name, "open")
	if len(concern) == 0 {
		concern = p.cves(s.name, "notRuledOut")
	}
	for _, row := range concern {
		known, of := "–", p.asOf
		if published, err := time.Parse(time.DateOnly, row["publishedAt"]); err == nil {
			of = later(published, s.registered)
			known = day(of)
		}
		if until := of.Add(time.Duration(p.dueDays[row["severity"]]) * day24); until.Before(due) {
			since, due = known, until
		}
	}
	return since, due
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// numbers holds the numbers of actions in the tables against how many the plan says that it has.
func (p *paper) numbers() {
	most := 0
	for _, name := range []string{"findings.csv", "cves.csv"} {
		for _, row := range p.tables[name] {
			n, _ := strconv.Atoi(row["step"])
			most = max(most, n)
		}
	}
	var all int
	if _, err := fmt.Sscanf(p.sections["Remediation plan"][strings.Index(p.sections["Remediation plan"], "plan ")+5:], "%d action", &all); err != nil || all < most {
		p.Errorf("%s of %s: the plan has %d actions, and the tables name %d: %v", p.kind, p.name, all, most, err)
	}
}

// domain is what the document is about: a scorecard is about all domains.
func (p *paper) domain() string {
	if p.kind == "Security" {
		return "Security"
	}
	return ""
}

// coverage is the table of servers and groups of checks.
func (p *paper) coverage() {
	const section = "Coverage and methodology"
	for _, s := range p.servers {
		switch {
		case s.inactive:
			p.says("coverage", section, "%s inactive – – – –", s.name)
		case s.silent:
			p.says("coverage", section, "%s not assessed – – – –", s.name)
		case s.unchecked:
			p.says("coverage", section, "%s no checks %s sent by a feed no check no check", s.name, minute(p.at(s, len(p.looks)-1)))
		default:
			outcome := "complete"
			if len(p.blindIn(s, "Security")) > 0 {
				outcome = "partial"
			}
			p.says("coverage", section, "%s %s %s sent by a feed %s %s", s.name, outcome, minute(p.at(s, len(p.looks)-1)), p.answersWords(s, "instance"), p.answersWords(s, "database"))
		}
	}
	security := those(slices.Collect(maps.Values(p.checks)), func(c knownCheck) bool { return c.Domain == "Security" })
	p.says("methodology", section, "%d checks, of which the %d of the domain Security are the subject of this report", len(p.checks), len(security))
	p.says("methodology", section, "The report shows what was known at %s UTC;", p.asOf.Format("2 Jan 2006 15:04:05"))
	p.says("methodology", section, "%d instances were assessed by another tool, which sent its results;", len(p.assessed())+1)
}

// answersWords counts the answers of a group of checks.
func (p *paper) answersWords(s *drawnServer, scope string) string {
	blind := those(p.blindIn(s, "Security"), func(id string) bool { return p.checks[id].Scope == scope })
	n := p.results(s, "Security", scope)
	if n+len(blind) == 0 {
		return "no check"
	}
	words := fmt.Sprintf("%d assessed", n)
	if len(blind) > 0 {
		words += fmt.Sprintf(" %d no answer", len(blind))
	}
	return words
}

// frameworks are the controls of ISO/IEC 27001: on how many servers each fails, holds, or was not looked at.
func (p *paper) frameworks() {
	const section = "Coverage and methodology"
	of := map[string][]knownCheck{}
	for _, c := range p.checks {
		for _, r := range c.References {
			if r.Source == "ISO 27001" && c.Domain == "Security" {
				of[r.ID] = append(of[r.ID], c)
			}
		}
	}
	var fail, hold, unseen, failing int
	for _, id := range sortedKeys(of) {
		n := [3]int{}
		for _, s := range p.servers {
			if at := p.control(s, of[id]); at >= 0 {
				n[at]++
			}
		}
		fail, hold, unseen = fail+n[0], hold+n[1], unseen+n[2]
		failing += min(n[0], 1)
		p.says("frameworks", section, "%s ‹ %d %d %d", id, n[0], n[1], n[2])
	}
	p.says("frameworks", section, "Annex A: %d controls tested. Control × server: %d fail, %d hold, %d not looked at. %s somewhere.", len(of), fail, hold, unseen, count(failing, "control fails", "controls fail"))
}

// matrix are the same controls in a report over few servers, which has a column for each of them.
func (p *paper) matrix() {
	of := map[string][]knownCheck{}
	for _, c := range p.checks {
		for _, r := range c.References {
			if r.Source == "ISO 27001" && c.Domain == "Security" {
				of[r.ID] = append(of[r.ID], c)
			}
		}
	}
	for _, id := range sortedKeys(of) {
		var words []string
		for _, s := range p.assessed() {
			words = append(words, map[int]string{-1: "n.a.", 0: "fails", 1: "holds", 2: "–"}[p.control(s, of[id])])
		}
		p.says("frameworks: matrix", "Coverage and methodology", "%s ‹ %s", id, strings.Join(words, " "))
	}
}

// control is how a control stands on a server: 0 it fails, 1 it holds, 2 nobody looked; -1: no check of it is for the engine.
func (p *paper) control(s *drawnServer, checks []knownCheck) int {
	if s.unchecked {
		return 2
	}
	about, blind := false, s.inactive || s.silent
	for _, c := range checks {
		if c.Engine != s.engine {
			continue
		}
		about = true
		if len(those(p.still("Security", s), func(f *drawnFinding) bool { return f.check.ID == c.ID })) > 0 {
			return 0
		}
		blind = blind || slices.Contains(s.blind, c.ID)
	}
	switch {
	case !about:
		return -1
	case blind:
		return 2
	}
	return 1
}

// findingsTable takes each row of findings.csv back.
func (p *paper) findingsTable() {
	rows := different(p.tables["findings.csv"], func(row map[string]string) string {
		return strings.Join([]string{row["status"], row["instance"], row["checkId"], row["database"], row["object"]}, "|")
	})
	all := 0
	for status, found := range map[string][]*drawnFinding{"open": p.still(p.domain(), p.about), "accepted": p.standing(p.domain(), p.about, true)} {
		for _, f := range found {
			all++
			row := rows[strings.Join([]string{status, f.server.name, f.check.ID, f.database, f.object}, "|")]
			if len(row) != 1 {
				p.Errorf("%s of %s: findings.csv has %d rows of %+v", p.kind, p.name, len(row), f)
				continue
			}
			is := []string{row[0]["severity"], row[0]["firstSeenAt"], row[0]["owner"], row[0]["evidence"]}
			want := []string{f.check.Severity, p.seen(f).Format(time.RFC3339), f.server.owner, f.evidence}
			if status == "open" {
				is = append(is, row[0]["dueAt"], row[0]["overdueDays"])
				want = append(want, p.due(f).Format(time.RFC3339), strconv.Itoa(lateBy(p.due(f), p.asOf)))
			}
			p.agrees("findings.csv", strings.Join(is, " "), strings.Join(want, " "))
		}
	}
	p.agrees("findings.csv", len(those(p.tables["findings.csv"], func(row map[string]string) bool { return row["status"] != "notAssessed" })), all)
}
