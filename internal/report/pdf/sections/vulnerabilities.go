package sections

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// How many CVEs and reasons the appendix prints: cves.csv has all.
const (
	mostCVEs    = 6 // besides those of mustPrint
	mustPrint   = 9 // the CVSS from which a CVE is printed, as is one that is exploited
	mostReasons = 3
)

// Vulnerabilities is the CVE appendix: the gravest CVEs, exploited ones first, then CVSS descending, then id; and why
// others are not ruled out. One update fixes hundreds, so all others are in cves.csv.
func Vulnerabilities(b *blocks.Builder) {
	list := slices.Clone(b.Doc.Vulnerabilities)
	slices.SortStableFunc(list, func(a, b snapshot.Vulnerability) int {
		return cmp.Or(cmp.Compare(known(b), known(a)), cmp.Compare(b.CVSS, a.CVSS), strings.Compare(a.ID, b.ID))
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
	shown := 0
	for shown < len(list) && (shown < mostCVEs || list[shown].CVSS >= mustPrint || known(list[shown]) > 0) {
		shown++
	}
	words := blocks.Count(len(list), "CVE concerns", "CVEs concern") + " a version that runs here. cves.csv has each of them for each server: where it is open, where it is not exploitable, and where and why it is not ruled out."
	if shown < len(list) {
		words += " This table has the " + blocks.Number(shown) + " gravest."
	}
	b.Para(words)
	graveTable(b, of, list[:shown], affected, running)
	b.Small("“After” a version: the vendor names the last affected one. Fixed in: releases of the majors that run here. " +
		"Not ruled out: the precondition was not read, or the vendor did not analyze that version (out of support). cves.csv has vectors and sources.")
	notRuledOut(b)
}

// known is 1 for a CVE that is exploited in the wild.
func known(v snapshot.Vulnerability) int {
	if v.ExploitedSince == nil {
		return 0
	}
	return 1
}

// notRuledOut says once for each reason how many CVEs are not ruled out, and where.
func notRuledOut(b *blocks.Builder) {
	type reason struct {
		why    string
		cves   []string
		places []string
	}
	var all []reason
	for _, r := range versionRows(b) {
		for _, c := range r.in.CVEs {
			if c.Applies != snapshot.CVEUnknown {
				continue
			}
			why := blocks.OrDash(Clause(blocks.Shorten(c.Precondition, 200)))
			i := slices.IndexFunc(all, func(o reason) bool { return o.why == why })
			if i < 0 {
				i = len(all)
				all = append(all, reason{why: why})
			}
			if !slices.Contains(all[i].cves, c.ID) {
				all[i].cves = append(all[i].cves, c.ID)
			}
			if !slices.Contains(all[i].places, r.in.Name) {
				all[i].places = append(all[i].places, r.in.Name)
			}
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(a, b reason) int { return cmp.Compare(len(b.cves), len(a.cves)) })
	b.Sub("Why CVEs are not ruled out")
	shown := all[:min(len(all), mostReasons)]
	blocks.Table(b, []typeset.Column{{Title: "CVEs", Align: typeset.Right}, {Title: "Reason", Flex: 1.4}, {Title: "Where", Flex: 1}}, shown, func(_ int, r reason) []typeset.Cell {
		return []typeset.Cell{blocks.Strong(blocks.Number(len(r.cves))), blocks.Text(blocks.Sentence(r.why)), blocks.Text(blocks.List(shortened(r.places), 4))}
	})
	if rest := len(all) - len(shown); rest > 0 {
		b.Small(blocks.Count(rest, "further reason", "further reasons") + ": see cves.csv.")
	}
}

// shortened are names that a cell has room for.
func shortened(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = blocks.Shorten(name, 60)
	}
	return out
}

// graveTable prints CVEs in a row each.
func graveTable(b *blocks.Builder, of map[string]string, list []snapshot.Vulnerability, affected map[string][]affectedBy, running map[string][]string) {
	blocks.Table(b, []typeset.Column{
		{Title: "CVE"}, {Title: "CVSS", Align: typeset.Right}, {Title: "What, where", Flex: 1.9}, {Title: "Fixed in", Flex: 0.8}, {Title: "Here", Flex: 1.2},
	}, list, func(_ int, v snapshot.Vulnerability) []typeset.Cell {
		band, engine := analysis.Band(v.CVSS), analysis.EngineName(of[v.ID])
		return []typeset.Cell{
			{Text: v.ID, Style: blocks.Linked(blocks.CellStrong, analysis.Address(v.ID)), Sub: engine, SubStyle: blocks.CellMuted},
			{Text: blocks.Decimal(v.CVSS), Style: blocks.Colored(blocks.CellStrong, blocks.SeverityColor[band])},
			{Text: blocks.Sentence(blocks.Shorten(v.Title, 200)), Sub: strings.TrimSuffix(componentOf(engine, v)+Before("score ", scorer(v)), "; ") + exploitedWords(v), SubStyle: blocks.CellMuted},
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
		word := s.cell().Text + " on " + somePlaces(s.instances)
		if len(all) == 1 { // else cves.csv has the reason of each
			word += Before(": ", Clause(blocks.Shorten(s.precondition, 110)))
		}
		words = append(words, word)
	}
	return typeset.Cell{Text: strings.Join(words, "; "), Mark: all[0].cell().Mark}
}

// mostPlaces is how many instances a row names.
const mostPlaces = 2

// somePlaces names instances, or counts them if they are more than mostPlaces.
func somePlaces(names []string) string {
	if len(names) <= mostPlaces {
		return strings.Join(names, ", ")
	}
	return blocks.Count(len(names), "instance", "instances")
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
