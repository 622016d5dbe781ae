package pdf

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// vulnerabilities is the CVE appendix: CVSS descending, then id. Each CVE of PostgreSQL has an
// entry with its precondition on the server. Those of other engines, where one update fixes
// hundreds, have one row each.
func (b *builder) vulnerabilities() {
	list := slices.Clone(b.doc.Vulnerabilities)
	slices.SortStableFunc(list, func(a, b snapshot.Vulnerability) int {
		return cmp.Or(cmp.Compare(b.CVSS, a.CVSS), strings.Compare(a.ID, b.ID))
	})
	affected, of, running := map[string][]affectedBy{}, map[string]string{}, map[string][]string{}
	whole := true
	for _, r := range b.versionRows() {
		whole = whole && analysis.CVEsWhole(&r.in)
		version, _ := analysis.Version(&r.in)
		for _, c := range r.in.CVEs {
			affected[c.ID] = append(affected[c.ID], affectedBy{r.in.Name, c})
			of[c.ID], running[c.ID] = r.in.Engine, append(running[c.ID], version)
		}
	}
	list = slices.DeleteFunc(list, func(v snapshot.Vulnerability) bool { return len(affected[v.ID]) == 0 })
	if len(list) == 0 {
		if rows := b.versionRows(); len(rows) == 0 {
			b.state(stateNotAssessed, "Not assessed: no instance in scope runs a version that the feed knows.")
		} else {
			b.clean(whole && len(rows) == b.assessed.Total, "The feed of "+day(b.doc.Feed.Date)+" lists no CVE for the versions of "+count(len(rows), "instance", "instances")+" in scope.")
		}
		return
	}
	b.para(count(len(list), "CVE concerns", "CVEs concern") + " a version that runs here. Each entry says where it is open, where it is not exploitable, and where and why it is not ruled out.")
	for _, v := range list {
		if engine.FixedReleases(of[v.ID]) {
			b.vulnerability(v, affected[v.ID])
		}
	}
	for _, e := range engine.All() {
		its := slices.DeleteFunc(slices.Clone(list), func(v snapshot.Vulnerability) bool { return of[v.ID] != string(e.Name) })
		if len(its) > 0 && !engine.FixedReleases(string(e.Name)) {
			b.vulnerabilityTable(e.Title, its, affected, running)
		}
	}
}

// vulnerabilityTable prints the CVEs of an engine: those of CVSS 7.0 or more in a row each,
// the lesser ones in lists, for of MySQL there are hundreds that one update clears.
func (b *builder) vulnerabilityTable(engine string, list []snapshot.Vulnerability, affected map[string][]affectedBy, running map[string][]string) {
	b.sub("CVEs of " + engine)
	grave := slices.DeleteFunc(slices.Clone(list), func(v snapshot.Vulnerability) bool { return v.CVSS < 7 })
	if len(grave) > 0 {
		b.graveTable(engine, grave, affected, running)
	}
	if lesser := list[len(grave):]; len(lesser) > 0 { // the list is by score
		b.lesser(engine, lesser, affected, running)
	}
	b.small("“After” a version: the vendor names the last affected one. Fixed in: releases of the majors that run here. Vectors without a version are CVSS 3.1. " +
		"Not ruled out: the precondition was not read, or the vendor did not analyze that version (out of support). Sources: " + sources(list) + ".")
}

// lesser lists CVEs below 7.0 by where they are fixed and how they concern which instances,
// each with its score and component.
func (b *builder) lesser(engine string, list []snapshot.Vulnerability, affected map[string][]affectedBy, running map[string][]string) {
	type group struct {
		fixed, here string
		cves        []snapshot.Vulnerability
	}
	var groups []group
	for _, v := range list {
		fixed := orDash(strings.Join(fixedFor(v.FixedIn, running[v.ID]), ", "))
		if !strings.HasPrefix(fixed, "after ") {
			fixed = "in " + fixed
		}
		g := group{fixed: fixed, here: here(standings(affected[v.ID])).Text}
		i := slices.IndexFunc(groups, func(other group) bool { return other.fixed == g.fixed && other.here == g.here })
		if i < 0 {
			i = len(groups)
			groups = append(groups, g)
		}
		groups[i].cves = append(groups[i].cves, v)
	}
	for _, g := range groups {
		b.d.Need(40)
		b.d.Settle()
		b.d.Paragraph(0, 1.4, typeset.Span{Text: count(len(g.cves), "CVE", "CVEs") + " below 7.0, fixed " + g.fixed + ". ", Style: cellStrong}, typeset.Span{Text: g.here + ".", Style: cellStyle})
		spans := make([]typeset.Span, 0, 2*len(g.cves))
		for i, v := range g.cves {
			end := ";  "
			if i == len(g.cves)-1 {
				end = "."
			}
			spans = append(spans, typeset.Span{Text: v.ID, Style: linked(smallStyle, analysis.Address(v.ID))},
				typeset.Span{Text: " " + decimal(v.CVSS) + before(" ", strings.TrimSuffix(componentOf(engine, v), "; ")) + end, Style: smallStyle})
		}
		b.d.Paragraph(10, 1.42, spans...)
		b.d.Y += 5
	}
}

// graveTable prints CVEs in a row each.
func (b *builder) graveTable(engine string, list []snapshot.Vulnerability, affected map[string][]affectedBy, running map[string][]string) {
	table(b, []typeset.Column{
		{Title: "CVE"}, {Title: "CVSS", Align: typeset.Right}, {Title: "What, where", Flex: 1.5}, {Title: "Fixed in", Flex: 0.8}, {Title: "Here", Flex: 1.1},
	}, list, func(_ int, v snapshot.Vulnerability) []typeset.Cell {
		band := analysis.Band(v.CVSS)
		return []typeset.Cell{
			{Text: v.ID, Style: linked(cellStrong, analysis.Address(v.ID))},
			{Text: decimal(v.CVSS), Style: colored(cellStrong, severityColor[band])},
			{Text: sentence(v.Title), Sub: componentOf(engine, v) + strings.TrimPrefix(v.Vector, "CVSS:3.1/"), SubStyle: cellMuted},
			text(orDash(strings.Join(fixedFor(v.FixedIn, running[v.ID]), ", "))),
			here(standings(affected[v.ID])),
		}
	})
}

var leadingNumber = regexp.MustCompile(`\d+`)

// fixedFor leaves out where a CVE is fixed in majors that do not run here; all where none
// of those that run was fixed.
func fixedFor(fixed, running []string) []string {
	var out []string
	for _, f := range fixed {
		if slices.ContainsFunc(running, func(v string) bool { return leadingNumber.FindString(v) == leadingNumber.FindString(f) }) {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return fixed
	}
	return out
}

// componentOf is where in the engine a CVE is, if that says more than its name.
func componentOf(engine string, v snapshot.Vulnerability) string {
	if v.Component == "" || strings.HasPrefix(v.Component, engine) {
		return ""
	}
	return v.Component + "; "
}

// here says in a cell how a CVE concerns which instances.
func here(all []standing) typeset.Cell {
	var words []string
	for _, s := range all {
		words = append(words, s.cell().Text+" on "+somePlaces(s.instances)+before(": ", clause(shorten(s.precondition, 160))))
	}
	return typeset.Cell{Text: strings.Join(words, "; "), Mark: all[0].cell().Mark}
}

// mostPlaces is how many instances a row names; an entry names all.
const mostPlaces = 12

// somePlaces names instances, and counts those beyond mostPlaces: of 500 servers of one
// version, each of 300 rows would fill a page.
func somePlaces(names []string) string {
	if len(names) <= mostPlaces {
		return places(names, "instance", "instances")
	}
	return count(len(names), "instance", "instances") + " (" + strings.Join(names[:mostPlaces], ", ") + " and " + number(len(names)-mostPlaces) + " more)"
}

// sources are those of a list, each once.
func sources(list []snapshot.Vulnerability) string {
	var out []string
	for _, v := range list {
		if !slices.Contains(out, v.Source) && v.Source != "" {
			out = append(out, v.Source)
		}
	}
	slices.Sort(out)
	return orDash(strings.Join(out, ", "))
}

type affectedBy struct {
	instance string
	cve      snapshot.InstanceCVE
}

// vulnerability prints one CVE, with the instances of equal standing together.
func (b *builder) vulnerability(v snapshot.Vulnerability, on []affectedBy) {
	d := b.d
	d.Need(70)
	d.Skip(6)
	d.Settle()
	band := analysis.Band(v.CVSS)
	b.striped(4, severityColor[band],
		typeset.Span{Text: v.ID, Style: linked(strongStyle, analysis.Address(v.ID))},
		typeset.Span{Text: "   CVSS " + decimal(v.CVSS) + " " + band, Style: typeset.Style{Face: typeset.Bold, Size: 8.5, Color: severityColor[band]}},
		typeset.Span{Text: "   " + v.Vector, Style: codeMuted})
	d.Paragraph(10, 1.38,
		typeset.Span{Text: sentence(v.Title), Style: typeset.Style{Face: typeset.Regular, Size: 9, Color: ink}},
		typeset.Span{Text: " Component: " + orDash(v.Component) + ". Fixed in " + orDash(strings.Join(v.FixedIn, ", ")) + "." + before(" Source: ", v.Source) + after(v.Source, "."), Style: smallStyle})
	for _, s := range standings(on) {
		d.Need(24)
		mark, top, page := s.cell(), d.Y, d.Page()
		page.Fill(d.Left()+10, top+3, 5.5, 5.5, mark.Mark)
		d.Paragraph(20, 1.42, typeset.Span{Text: mark.Text, Style: cellStrong},
			typeset.Span{Text: " on " + places(s.instances, "instance", "instances") + before(": ", clause(shorten(s.precondition, 300))), Style: cellStyle})
	}
	d.Y += 3
}

// standing is how a CVE concerns some instances, for the same reason.
type standing struct {
	applies, precondition string
	instances             []string
}

// standings puts instances of equal standing together: open ones first, those
// that are not exposed last, in the order of the instances otherwise.
func standings(on []affectedBy) []standing {
	var out []standing
	for _, a := range on {
		i := slices.IndexFunc(out, func(s standing) bool { return s.applies == a.cve.Applies && s.precondition == a.cve.Precondition })
		if i < 0 {
			i = len(out)
			out = append(out, standing{applies: a.cve.Applies, precondition: a.cve.Precondition})
		}
		out[i].instances = append(out[i].instances, shorten(a.instance, 80))
	}
	rank := map[string]int{snapshot.CVEOpen: -1, snapshot.CVENotExploitable: 1}
	slices.SortStableFunc(out, func(a, b standing) int { return cmp.Compare(rank[a.applies], rank[b.applies]) })
	return out
}

// cell is a standing in a word and a colour.
func (s standing) cell() typeset.Cell {
	switch s.applies {
	case snapshot.CVEOpen:
		return typeset.Cell{Text: "Open", Mark: severityColor[analysis.High]}
	case snapshot.CVENotExploitable:
		return typeset.Cell{Text: "Not exploitable", Mark: good}
	default:
		return typeset.Cell{Text: "Not ruled out", Mark: caution}
	}
}
