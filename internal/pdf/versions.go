package pdf

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/internal/pdf/typeset"
	"muster/internal/snapshot"
	"muster/internal/snapshot/analysis"
)

// versionRow is what the feed knows of one instance.
type versionRow struct {
	in      snapshot.Instance
	bands   analysis.Counts // open CVEs by band
	unsure  bool            // some of them may not apply
	highest float64
	ended   bool
}

// openVulnerabilities counts different CVEs that are open, or may be, on an
// active instance, and the highest CVSS among them.
func (b *builder) openVulnerabilities() (open int, highest float64) {
	seen := map[string]bool{}
	for _, r := range b.versionRows() {
		for _, c := range r.in.CVEs {
			if c.Applies != analysis.CVENotExploitable {
				seen[c.ID] = true
			}
		}
		highest = max(highest, r.highest)
	}
	return len(seen), highest
}

// versionRows are the active instances whose version the feed knows: past end
// of life first, then highest CVSS, then name.
func (b *builder) versionRows() []versionRow {
	cvss := map[string]float64{}
	for _, v := range b.doc.Vulnerabilities {
		cvss[v.ID] = v.CVSS
	}
	var rows []versionRow
	for _, in := range b.doc.Instances {
		if !in.Active || in.Release == nil {
			continue
		}
		r := versionRow{in: in, ended: in.Release.EndOfLife != nil && !in.Release.EndOfLife.After(b.doc.AsOf)}
		for _, c := range in.CVEs {
			if c.Applies == analysis.CVENotExploitable {
				continue
			}
			r.bands[analysis.Rank(analysis.Band(cvss[c.ID]))]++
			r.highest = max(r.highest, cvss[c.ID])
			r.unsure = r.unsure || c.Applies != analysis.CVEOpen
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b versionRow) int {
		return cmp.Or(compareBool(b.ended, a.ended), cmp.Compare(b.highest, a.highest), strings.Compare(a.in.Name, b.in.Name))
	})
	return rows
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

func (b *builder) versions() {
	rows := b.versionRows()
	feed := "the feed of " + day(b.doc.Feed.Date)
	switch {
	case b.assessed.Total == 0:
		b.state(stateNotApplicable, "Not applicable: no instance is in scope of this report.")
		return
	case len(rows) == 0:
		b.state(stateNotAssessed, "Not assessed: "+feed+" knows the version of none of the instances in scope.")
	default:
		b.versionLead(rows, feed)
		b.versionTable(rows)
	}
	b.sayGaps(b.versionGaps(feed))
}

// versionGaps are the instances that the feed says nothing about.
func (b *builder) versionGaps(feed string) []gap {
	var gaps []gap
	for i := range b.doc.Instances {
		in := &b.doc.Instances[i]
		version, _ := analysis.Version(in)
		g := gap{state: stateNotAssessed, places: []string{shorten(in.Name, 80) + before(" ", shorten(version, 40))}}
		switch {
		case in.Release != nil && in.Active:
			continue
		case !in.Active:
			g.reason = notAssessedWhy(*in)
		case in.Engine != "postgresql":
			g.state, g.reason = stateNotApplicable, "the feed does not cover "+analysis.EngineName(in.Engine)
		case version == "":
			g.reason = "no version is known"
		default:
			g.reason = feed + " does not know that version"
		}
		gaps = append(gaps, g)
	}
	return gaps
}

func (b *builder) versionLead(rows []versionRow, feed string) {
	vulnerable, ended := 0, 0
	for _, r := range rows {
		if r.bands.Total() > 0 {
			vulnerable++
		}
		if r.ended {
			ended++
		}
	}
	if vulnerable == 0 && ended == 0 {
		words := "All " + count(len(rows), "instance runs", "instances run")
		if len(rows) == 1 {
			words = "The one instance runs"
		}
		b.state(stateClean, words+" a version for which "+feed+" lists no open CVE.")
		return
	}
	lead := number(vulnerable) + " of " + count(len(rows), "instance", "instances") + " whose version " + feed + " knows " + verb(vulnerable, "has", "have")
	switch {
	case len(rows) == 1 && vulnerable == 1:
		lead = "The one instance whose version " + feed + " knows has"
	case len(rows) == vulnerable:
		lead = "All " + number(len(rows)) + " instances whose version " + feed + " knows have"
	}
	lead += " at least one open CVE; "
	if ended == 0 {
		b.para(lead + "none runs a major version past its end of life.")
		return
	}
	b.para(lead + number(ended) + " " + verb(ended, "runs", "run") + " a major version past its end of life.")
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func (b *builder) versionTable(rows []versionRow) {
	unsure := false
	right := typeset.Right
	b.table(typeset.Table{
		Columns: []typeset.Column{
			{Title: "Instance", Flex: 1}, {Title: "Engine, version", Max: 90}, {Title: "End of life"}, {Title: "Latest minor"}, {Title: "Behind", Align: right},
			{Title: "Crit.", Align: right}, {Title: "High", Align: right}, {Title: "Med.", Align: right}, {Title: "Low", Align: right},
			{Title: "Max CVSS", Align: right}, {Title: "Clears all"},
		},
		Rows: len(rows),
		Row: func(i int) []typeset.Cell {
			r := rows[i]
			unsure = unsure || r.unsure
			version, answered := analysis.Version(&r.in)
			running := typeset.Cell{Text: analysis.EngineName(r.in.Engine) + " " + orDash(version)}
			if !answered {
				running.Sub, running.SubStyle = "as registered", cellMuted
			}
			cells := []typeset.Cell{
				strong(r.in.Name), running, b.endOfLife(r.in.Release.EndOfLife), text(orDash(r.in.Release.Latest)),
				text(number(r.in.Release.MinorsBehind)),
			}
			for _, n := range r.bands {
				cells = append(cells, zeroFaint(n))
			}
			highest := faint("–")
			if r.highest > 0 {
				highest = strong(dagger(decimal(r.highest), r.unsure))
			}
			return append(cells, highest, text(orDash(r.in.Release.Target)))
		},
	})
	note := "Feed: " + orDash(b.doc.Feed.Name) + ", " + day(b.doc.Feed.Date) + ". Behind: minor releases between the running and the latest one. " +
		"Clears all: the lowest version without an open CVE. CVEs whose precondition does not hold here are left out; the CVE appendix has all."
	if unsure {
		note += " † Some of these depend on a precondition that could not be read."
	}
	b.small(note)
}

func zeroFaint(n int) typeset.Cell {
	if n == 0 {
		return faint("0")
	}
	return strong(number(n))
}

func (b *builder) endOfLife(end *time.Time) typeset.Cell {
	if end == nil {
		return faint("–")
	}
	days := int(end.Sub(b.doc.AsOf).Hours() / 24)
	cell := typeset.Cell{Text: day(*end), Sub: count(days, "day", "days") + " left", SubStyle: cellMuted}
	if !end.After(b.doc.AsOf) {
		cell.Sub = count(-days, "day", "days") + " ago"
		cell.SubStyle = typeset.Style{Face: typeset.Bold, Size: 8, Color: severityColor[analysis.Critical]}
	}
	return cell
}

// vulnerabilities is the CVE appendix: CVSS descending, then id.
func (b *builder) vulnerabilities() {
	list := slices.Clone(b.doc.Vulnerabilities)
	slices.SortStableFunc(list, func(a, b snapshot.Vulnerability) int {
		return cmp.Or(cmp.Compare(b.CVSS, a.CVSS), strings.Compare(a.ID, b.ID))
	})
	affected := map[string][]affectedBy{}
	for _, r := range b.versionRows() {
		for _, c := range r.in.CVEs {
			affected[c.ID] = append(affected[c.ID], affectedBy{r.in.Name, c})
		}
	}
	list = slices.DeleteFunc(list, func(v snapshot.Vulnerability) bool { return len(affected[v.ID]) == 0 })
	if len(list) == 0 {
		switch rows := b.versionRows(); {
		case b.assessed.Total == 0:
			b.state(stateNotApplicable, "Not applicable: no instance is in scope of this report.")
		case len(rows) == 0:
			b.state(stateNotAssessed, "Not assessed: no instance in scope runs a version that the feed knows.")
		default:
			b.state(stateClean, "The feed of "+day(b.doc.Feed.Date)+" lists no CVE for the versions of "+count(len(rows), "instance", "instances")+" in scope.")
		}
		return
	}
	b.para(count(len(list), "CVE concerns", "CVEs concern") + " a version that runs here. Each entry says on which instances it is open, where it is not exploitable, and where that is not known, and why.")
	for _, v := range list {
		b.vulnerability(v, affected[v.ID])
	}
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
	top, page := d.Y, d.Page()
	d.Paragraph(10, 1.32,
		typeset.Span{Text: v.ID, Style: strongStyle},
		typeset.Span{Text: "   CVSS " + decimal(v.CVSS) + " " + band, Style: typeset.Style{Face: typeset.Bold, Size: 8.5, Color: severityColor[band]}},
		typeset.Span{Text: "   " + v.Vector, Style: codeMuted})
	if d.Page() == page {
		page.Fill(d.Left(), top+1, 4, d.Y-top-2, severityColor[band])
	}
	from := ""
	if v.Source != "" {
		from = " Source: " + v.Source + "."
	}
	d.Paragraph(10, 1.38,
		typeset.Span{Text: sentence(v.Title), Style: typeset.Style{Face: typeset.Regular, Size: 9, Color: ink}},
		typeset.Span{Text: " Component: " + orDash(v.Component) + ". Fixed in " + orDash(strings.Join(v.FixedIn, ", ")) + "." + from, Style: smallStyle})
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
	rank := map[string]int{analysis.CVEOpen: -1, analysis.CVENotExploitable: 1}
	slices.SortStableFunc(out, func(a, b standing) int { return cmp.Compare(rank[a.applies], rank[b.applies]) })
	return out
}

// cell is a standing in a word and a colour.
func (s standing) cell() typeset.Cell {
	switch s.applies {
	case analysis.CVEOpen:
		return typeset.Cell{Text: "Open", Mark: severityColor[analysis.High]}
	case analysis.CVENotExploitable:
		return typeset.Cell{Text: "Not exploitable", Mark: good}
	default:
		return typeset.Cell{Text: "Not known", Mark: caution}
	}
}
