package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// versions is the table of versions.
func (p *paper) versions() {
	const section = "Versions and known vulnerabilities"
	for _, s := range p.servers {
		r := p.releaseOf(s)
		left := count(calendarDays(p.asOf, r.end), "day", "days") + " left"
		if !r.end.After(p.asOf) {
			left = count(calendarDays(r.end, p.asOf), "day", "days") + " ago"
		}
		latest := r.latest
		if latest == "not known" {
			latest = "–"
		}
		behind := ""
		if s.engine == "postgresql" {
			var is, newest int
			_, _ = fmt.Sscanf(s.version, r.major+".%d", &is)
			_, _ = fmt.Sscanf(r.latest, r.major+".%d", &newest)
			if newest > is {
				behind = fmt.Sprintf(" %d behind;", newest-is)
			}
			behind += " list known until ‹"
		} else if latest != "–" {
			behind = " ‹"
		}
		open := bySeverity(p.cves(s.name, "open"), func(row map[string]string) string { return row["severity"] })
		var words []string
		for _, n := range open {
			if n == 0 && s.engine != "postgresql" { // of whose CVEs the feed says that it does not know all
				words = append(words, "–")
			} else {
				words = append(words, strconv.Itoa(n))
			}
		}
		most := "–"
		if score := highest(p.cves(s.name, "open")); score > 0 {
			most = fmt.Sprintf("%.1f", score)
		}
		possible := "‹"
		if n := len(p.cves(s.name, "notRuledOut")); n > 0 {
			possible = fmt.Sprintf("%d to %.1f", n, highest(p.cves(s.name, "notRuledOut")))
		}
		as := ""
		if s.inactive || s.silent {
			as = ", as registered"
		}
		if s.inactive {
			as += ", inactive"
		}
		title := map[string]string{"postgresql": "PostgreSQL", "sqlserver": "SQL Server", "oracle": "Oracle", "mongodb": "MongoDB"}[s.engine]
		p.says("versions", section, "%s %s %s%s %s %s %s%s %s %s %s", s.name, title, s.version, as, day(r.end), left, latest, behind, strings.Join(words, " / "), most, possible)
	}
	p.says("CVE appendix", "CVE appendix", "%s a version that runs here.", count(len(different(p.tables["cves.csv"], cveID)), "CVE concerns", "CVEs concern"))
}

// dueWords say in a table until when the first of some findings has to be closed.
func (p *paper) dueWords(all ...*drawnFinding) string {
	first := slices.MinFunc(all, func(a, b *drawnFinding) int { return p.due(a).Compare(p.due(b)) })
	if late := lateBy(p.due(first), p.asOf); late > 0 {
		return count(late, "day", "days") + " overdue"
	}
	return day(p.due(first))
}

// place is where a finding is.
func (f *drawnFinding) place() string {
	if f.database != "" {
		return f.server.name + " / " + f.database
	}
	return f.server.name
}

// cards are the critical and high findings by check, and the rows of the others.
func (p *paper) cards() {
	const section = "Security findings"
	groups := different(p.still("Security", nil), checkOf)
	serious, medium := 0, false
	for id := range groups {
		medium = medium || p.checks[id].Severity == "Medium"
	}
	for _, id := range sortedKeys(groups) {
		all, c := groups[id], p.checks[id]
		if !grave(all[0]) {
			p.lesser(c, all, medium)
			continue
		}
		serious++
		first := slices.MinFunc(all, func(a, b *drawnFinding) int { return p.due(a).Compare(p.due(b)) })
		when := "Due today"
		if days := calendarDays(p.asOf, p.due(first)); days > 0 {
			when = "Due in " + count(days, "day", "days")
		}
		if late := lateBy(p.due(first), p.asOf); late > 0 {
			when = "Overdue by " + count(late, "day", "days")
		}
		when += fmt.Sprintf(" due %s · first seen %s", day(p.due(first)), day(p.seen(first)))
		owner := ""
		owners := different(all, func(f *drawnFinding) string { return cmp.Or(f.server.owner, "no owner") })
		if len(owners) == 1 {
			owner = " · " + sortedKeys(owners)[0]
		}
		if len(all) == 1 {
			p.says("cards", section, "%s on %s %s · %s%s %s", all[0].object, all[0].place(), c.Severity, c.Title, owner, when)
			continue
		}
		p.says("cards", section, "%s %s · %d findings on %s%s %s", c.Title, c.Severity, len(all), count(len(different(all, serverOf)), "server", "servers"), owner, when)
		for _, f := range all {
			if len(all) <= 6 {
				p.says("cards: findings", section, "%s %s %s %s", f.object, f.place(), f.evidence, p.dueWords(f))
			}
		}
	}
	p.says("cards", section, "%s failed with severity Critical or High: each has a card.", count(serious, "check", "checks"))
}

// lesser is the row of a check of severity Medium or Low. Low ones are named below the table of the medium ones.
func (p *paper) lesser(c knownCheck, all []*drawnFinding, medium bool) {
	if c.Severity == "Low" && medium {
		p.says("lesser findings", "Security findings", "%s (%d)", c.ID, len(all))
		return
	}
	where := firstNames(sortedKeys(different(all, serverOf)), 1)
	if len(all) == 1 {
		where = all[0].place()
	}
	p.says("lesser findings", "Security findings", "%s %s %s %s %s %d", c.Severity, c.ID, c.Title, where, p.dueWords(all...), len(all))
}

// exceptions are what was accepted, until when, and by whom.
func (p *paper) exceptions() {
	const section = "Security findings"
	accepted := p.standing("Security", nil, true)
	if len(p.granted) == 0 {
		p.says("exceptions", section, "No exception is in force for this scope.")
		return
	}
	p.says("exceptions", section, "%d exceptions are in force for this scope and cover %s,", len(p.granted), count(len(accepted), "finding", "findings"))
	for _, x := range p.granted {
		c, object := p.checks[fmt.Sprint(x["checkId"])], "every object"
		if x["objectRef"] != nil {
			object = fmt.Sprint("object ", x["objectRef"])
		}
		server := p.servers[slices.IndexFunc(p.servers, func(s *drawnServer) bool { return s.id == x["instanceId"] })]
		until, _ := x["until"].(time.Time)
		p.says("exceptions", section, "%s %s %s Holds for %s, %s Until %s, in %s Requested by ana, granted by ana on %s Why %s.", c.Severity, c.ID, c.Title, server.name, object,
			minute(until), count(calendarDays(p.asOf, until), "day", "days"), day(p.asOf), x["reason"])
	}
	for _, f := range accepted {
		p.says("exceptions", section, "%s %s %s %s %s", f.check.Severity, f.server.name, cmp.Or(f.database, "instance-wide"), f.object, f.evidence)
	}
}

// people are the privileged accounts.
func (p *paper) people() {
	const section = "Privileged accounts"
	all, dormant, on := 0, 0, 0
	for _, s := range p.servers {
		on += min(len(s.accounts), 1)
		for _, a := range s.accounts {
			all++
			if a.seen > 90 {
				dormant++
			}
			if a.seen > 90 && a.superuser {
				p.says("accounts", section, "%s %s yes %s %s dormant", a.name, s.name, strings.Join(a.privileges, ", "), day(p.now.AddDate(0, 0, -a.seen)))
			}
		}
	}
	words := ""
	if dormant > 0 {
		words = fmt.Sprintf(" %s dormant.", count(dormant, "of them is", "of them are"))
	}
	p.says("accounts", section, "%s more than ordinary rights on %s.%s", count(all, "account has", "accounts have"), count(on, "instance", "instances"), words)
	p.agrees("accounts.csv", len(p.tables["accounts.csv"]), all)
	for _, row := range p.tables["accounts.csv"] {
		i := slices.IndexFunc(p.servers, func(s *drawnServer) bool { return s.name == row["instance"] })
		a := p.servers[i].accounts[slices.IndexFunc(p.servers[i].accounts, func(a drawnAccount) bool { return a.name == row["account"] })]
		p.agrees("accounts.csv", row["superuser"]+row["dormant"]+row["owner"], fmt.Sprintf("%t%t%s", a.superuser, a.seen > 90, p.servers[i].owner))
	}
}
