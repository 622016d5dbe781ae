package sections

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"muster/internal/engine"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Vulnerabilities is the CVE appendix: CVSS descending, then id. Each CVE of PostgreSQL has an
// entry with its precondition on the server. Those of other engines, where one update fixes
// hundreds, have one row each.
func Vulnerabilities(b *blocks.Builder) {
	list := slices.Clone(b.Doc.Vulnerabilities)
	slices.SortStableFunc(list, func(a, b snapshot.Vulnerability) int {
		return cmp.Or(cmp.Compare(b.CVSS, a.CVSS), strings.Compare(a.ID, b.ID))
	})
	affected, of, running := map[string][]affectedBy{}, map[string]string{}, map[string][]string{}
	whole := true
	for _, r := range versionRows(b) {
		whole = whole && analysis.CVEsWhole(&r.in)
		version, _ := analysis.Version(&r.in)
		for _, c := range r.in.CVEs {
			affected[c.ID] = append(affected[c.ID], affectedBy{r.in.Name, c})
			of[c.ID], running[c.ID] = r.in.Engine, append(running[c.ID], version)
		}
	}
	list = slices.DeleteFunc(list, func(v snapshot.Vulnerability) bool { return len(affected[v.ID]) == 0 })
	if len(list) == 0 {
		if rows := versionRows(b); len(rows) == 0 {
			b.State(blocks.StateNotAssessed, "Not assessed: no instance in scope runs a version that the feed knows.")
		} else {
			b.Clean(whole && len(rows) == b.Assessed.Total, "The feed of "+blocks.Day(b.Doc.Feed.Date)+" lists no CVE for the versions of "+blocks.Count(len(rows), "instance", "instances")+" in scope.")
		}
		return
	}
	b.Para(blocks.Count(len(list), "CVE concerns", "CVEs concern") + " a version that runs here. Each entry says where it is open, where it is not exploitable, and where and why it is not ruled out.")
	for _, v := range list {
		if engine.FixedReleases(of[v.ID]) {
			vulnerability(b, v, affected[v.ID])
		}
	}
	for _, e := range engine.All() {
		its := slices.DeleteFunc(slices.Clone(list), func(v snapshot.Vulnerability) bool { return of[v.ID] != string(e.Name) })
		if len(its) > 0 && !engine.FixedReleases(string(e.Name)) {
			vulnerabilityTable(b, e.Title, its, affected, running)
		}
	}
}

// vulnerabilityTable prints the CVEs of an engine: those of CVSS 7.0 or more in a row each,
// the lesser ones in lists, for of MySQL there are hundreds that one update clears.
func vulnerabilityTable(b *blocks.Builder, engine string, list []snapshot.Vulnerability, affected map[string][]affectedBy, running map[string][]string) {
	b.Sub("CVEs of " + engine)
	grave := slices.DeleteFunc(slices.Clone(list), func(v snapshot.Vulnerability) bool { return v.CVSS < 7 })
	if len(grave) > 0 {
		graveTable(b, engine, grave, affected, running)
	}
	if lesser := list[len(grave):]; len(lesser) > 0 { // the list is by score
		lesserTable(b, engine, lesser, affected, running)
	}
	b.Small("“After” a version: the vendor names the last affected one. Fixed in: releases of the majors that run here. Vectors without a version are CVSS 3.1. " +
		"Not ruled out: the precondition was not read, or the vendor did not analyze that version (out of support). Sources: " + sources(list) + ".")
}

// lesserTable lists CVEs below 7.0 by where they are fixed and how they concern which instances,
// each with its score and component.
func lesserTable(b *blocks.Builder, engine string, list []snapshot.Vulnerability, affected map[string][]affectedBy, running map[string][]string) {
	type group struct {
		fixed, here string
		cves        []snapshot.Vulnerability
	}
	var groups []group
	for _, v := range list {
		fixed := blocks.OrDash(strings.Join(fixedFor(v.FixedIn, running[v.ID]), ", "))
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
		b.Paper.Need(40)
		b.Paper.Settle()
		b.Paper.Paragraph(0, 1.4, typeset.Span{Text: blocks.Count(len(g.cves), "CVE", "CVEs") + " below 7.0, fixed " + g.fixed + ". ", Style: blocks.CellStrong}, typeset.Span{Text: g.here + ".", Style: blocks.CellStyle})
		spans := make([]typeset.Span, 0, 2*len(g.cves))
		for i, v := range g.cves {
			end := ";  "
			if i == len(g.cves)-1 {
				end = "."
			}
			spans = append(spans, typeset.Span{Text: v.ID, Style: blocks.Linked(blocks.SmallStyle, analysis.Address(v.ID))},
				typeset.Span{Text: " " + blocks.Decimal(v.CVSS) + Before(" ", strings.TrimSuffix(componentOf(engine, v), "; ")) + end, Style: blocks.SmallStyle})
		}
		b.Paper.Paragraph(10, 1.42, spans...)
		b.Paper.Y += 5
	}
}

// graveTable prints CVEs in a row each.
func graveTable(b *blocks.Builder, engine string, list []snapshot.Vulnerability, affected map[string][]affectedBy, running map[string][]string) {
	blocks.Table(b, []typeset.Column{
		{Title: "CVE"}, {Title: "CVSS", Align: typeset.Right}, {Title: "What, where", Flex: 1.5}, {Title: "Fixed in", Flex: 0.8}, {Title: "Here", Flex: 1.1},
	}, list, func(_ int, v snapshot.Vulnerability) []typeset.Cell {
		band := analysis.Band(v.CVSS)
		return []typeset.Cell{
			{Text: v.ID, Style: blocks.Linked(blocks.CellStrong, analysis.Address(v.ID))},
			{Text: blocks.Decimal(v.CVSS), Style: blocks.Colored(blocks.CellStrong, blocks.SeverityColor[band])},
			{Text: blocks.Sentence(v.Title), Sub: componentOf(engine, v) + strings.TrimPrefix(v.Vector, "CVSS:3.1/") + Before("; score ", scorer(v)) + exploitedWords(v), SubStyle: blocks.CellMuted},
			blocks.Text(blocks.OrDash(strings.Join(fixedFor(v.FixedIn, running[v.ID]), ", "))),
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
		words = append(words, s.cell().Text+" on "+somePlaces(s.instances)+Before(": ", Clause(blocks.Shorten(s.precondition, 160))))
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
	return blocks.Count(len(names), "instance", "instances") + " (" + strings.Join(names[:mostPlaces], ", ") + " and " + blocks.Number(len(names)-mostPlaces) + " more)"
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
	return blocks.OrDash(strings.Join(out, ", "))
}

// cvssName is the version of CVSS that a score is of, by its vector: those without a version are of 3.1.
func cvssName(v snapshot.Vulnerability) string {
	if version, _, ok := strings.Cut(strings.TrimPrefix(v.Vector, "CVSS:"), "/"); ok && version != v.Vector && len(version) == 3 {
		return "CVSS " + version
	}
	return "CVSS 3.1"
}

// scorer says whose score it is, where that is not the vendor's.
func scorer(v snapshot.Vulnerability) string {
	switch v.ScoredBy {
	case "", "the vendor":
		return ""
	case "the source named":
		return "by the source"
	}
	return v.ScoredBy
}

// exploitedWords say since when a CVE is known to be exploited.
func exploitedWords(v snapshot.Vulnerability) string {
	if v.ExploitedSince == nil {
		return ""
	}
	return ". Exploited in the wild: on CISA’s list since " + blocks.Day(*v.ExploitedSince)
}

type affectedBy struct {
	instance string
	cve      snapshot.InstanceCVE
}

// vulnerability prints one CVE, with the instances of equal standing together.
func vulnerability(b *blocks.Builder, v snapshot.Vulnerability, on []affectedBy) {
	d := b.Paper
	d.Need(70)
	d.Skip(6)
	d.Settle()
	band := analysis.Band(v.CVSS)
	b.Striped(4, blocks.SeverityColor[band],
		typeset.Span{Text: v.ID, Style: blocks.Linked(blocks.StrongStyle, analysis.Address(v.ID))},
		typeset.Span{Text: "   " + cvssName(v) + " " + blocks.Decimal(v.CVSS) + " " + band + Before(", by ", v.ScoredBy) + exploitedWords(v), Style: typeset.Style{Face: typeset.Bold, Size: 8.5, Color: blocks.SeverityColor[band]}},
		typeset.Span{Text: "   " + v.Vector, Style: blocks.CodeMuted})
	d.Paragraph(10, 1.38,
		typeset.Span{Text: blocks.Sentence(v.Title), Style: typeset.Style{Face: typeset.Regular, Size: 9, Color: blocks.Ink}},
		typeset.Span{Text: " Component: " + blocks.OrDash(v.Component) + ". Fixed in " + blocks.OrDash(strings.Join(v.FixedIn, ", ")) + "." + Before(" Source: ", v.Source) + After(v.Source, "."), Style: blocks.SmallStyle})
	for _, s := range standings(on) {
		d.Need(24)
		mark, top, page := s.cell(), d.Y, d.Page()
		page.Fill(d.Left()+10, top+3, 5.5, 5.5, mark.Mark)
		d.Paragraph(20, 1.42, typeset.Span{Text: mark.Text, Style: blocks.CellStrong},
			typeset.Span{Text: " on " + places(s.instances, "instance", "instances") + Before(": ", Clause(blocks.Shorten(s.precondition, 300))), Style: blocks.CellStyle})
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
		out[i].instances = append(out[i].instances, blocks.Shorten(a.instance, 80))
	}
	rank := map[string]int{snapshot.CVEOpen: -1, snapshot.CVENotExploitable: 1}
	slices.SortStableFunc(out, func(a, b standing) int { return cmp.Compare(rank[a.applies], rank[b.applies]) })
	return out
}

// cell is a standing in a word and a colour.
func (s standing) cell() typeset.Cell {
	switch s.applies {
	case snapshot.CVEOpen:
		return typeset.Cell{Text: "Open", Mark: blocks.SeverityColor[analysis.High]}
	case snapshot.CVENotExploitable:
		return typeset.Cell{Text: "Not exploitable", Mark: blocks.Good}
	default:
		return typeset.Cell{Text: "Not ruled out", Mark: blocks.Caution}
	}
}
