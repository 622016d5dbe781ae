package e2e

import (
	"cmp"
	"fmt"
	"strings"
)

// mailed takes back what the mail about a Security report says: what is overdue, what is new and closed since the report
// before, by severity, and where to begin.
func (p *paper) mailed() {
	p.Helper()
	eventually(p.T, "the mail about the report", func() bool {
		for _, m := range p.mails.Mails() {
			if text := readMail(p.T, m.Data).text; strings.Contains(text, p.id.String()) {
				p.sections["mail"] = strings.Join(strings.Fields(text), " ")
				return true
			}
		}
		return false
	})
	late := len(those(p.still("Security", nil), func(f *drawnFinding) bool { return grave(f) && p.due(f).Before(p.asOf) }))
	overdue := count(late, "critical or high finding", "critical and high findings")
	if late == 0 {
		overdue = "no critical or high findings"
	}
	p.says("mail: overdue", "mail", "Overdue %s", overdue)
	fresh, closed := p.moved()
	p.says("mail: new and closed", "mail", "New %s Closed %s", inWords(fresh), inWords(closed))
	for _, name := range []string{"findings.csv", "cves.csv"} {
		for _, row := range p.tables[name] {
			if row["step"] == "1" {
				p.says("mail: first action", "mail", "Do first « Server %s Owner %s Due ‹", row["instance"], cmp.Or(row["owner"], "no owner"))
				return
			}
		}
	}
}

// moved are the findings that the last look found first, and those that it no longer found, by severity.
func (p *paper) moved() (fresh, closed [4]int) {
	last := len(p.looks) - 1
	for _, s := range p.assessed() {
		for _, f := range s.findings {
			was, is := f.from < last && f.to >= last, f.to > last
			switch {
			case f.check.Domain != "Security":
			case was && !is:
				closed[severityRank(f.check.Severity)]++
			case is && !was && !f.accepted:
				fresh[severityRank(f.check.Severity)]++
			}
		}
	}
	return fresh, closed
}

func inWords(counts [4]int) string {
	var words []string
	for i, name := range []string{"critical", "high", "medium", "low"} {
		if counts[i] > 0 {
			words = append(words, fmt.Sprintf("%d %s", counts[i], name))
		}
	}
	return cmp.Or(strings.Join(words, ", "), "none")
}
