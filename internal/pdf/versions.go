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

// unsure says whether some of the row's CVEs are only not ruled out.
func (r versionRow) unsure() bool { return r.open < r.bands.Total() }

// versionRow is what the feed knows of one instance.
type versionRow struct {
	in      snapshot.Instance
	bands   analysis.Counts // CVEs by band that are open or not ruled out
	open    int             // of those, the ones known to be open
	highest float64
	ended   bool
}

// openVulnerabilities counts the different CVEs that are open on an active
// instance, those that are open on none but not ruled out everywhere, and the
// highest CVSS among both.
func (b *builder) openVulnerabilities() (open, possible int, highest float64) {
	isOpen := map[string]bool{}
	for _, r := range b.versionRows() {
		for _, c := range r.in.CVEs {
			if c.Applies != analysis.CVENotExploitable {
				isOpen[c.ID] = isOpen[c.ID] || c.Applies == analysis.CVEOpen
			}
		}
		highest = max(highest, r.highest)
	}
	for _, is := range isOpen {
		if is {
			open++
		} else {
			possible++
		}
	}
	return open, possible, highest
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
			if c.Applies == analysis.CVEOpen {
				r.open++
			}
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
	vulnerable, possible, ended := 0, 0, 0
	for _, r := range rows {
		switch {
		case r.open > 0:
			vulnerable++
		case r.unsure():
			possible++
		}
		if r.ended {
			ended++
		}
	}
	if vulnerable+possible+ended == 0 {
		words := "All " + count(len(rows), "instance runs", "instances run")
		if len(rows) == 1 {
			words = "The one instance runs"
		}
		b.state(stateClean, words+" a version for which "+feed+" lists no open CVE.")
		return
	}
	words := number(vulnerable) + " of " + count(len(rows), "instance", "instances") + " whose version " + feed + " knows " + verb(vulnerable, "has", "have")
	switch {
	case len(rows) == 1 && vulnerable == 1:
		words = "The one instance whose version " + feed + " knows has"
	case len(rows) == vulnerable:
		words = "All " + number(len(rows)) + " instances whose version " + feed + " knows have"
	}
	words += " at least one open CVE"
	if possible > 0 {
		words += "; on " + number(possible) + " more it is not ruled out"
	}
	if ended == 0 {
		b.para(words + "; none runs a major version past its end of life.")
		return
	}
	b.para(words + "; " + number(ended) + " " + verb(ended, "runs", "run") + " a major version past its end of life.")
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
			unsure = unsure || r.unsure()
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
				highest = strong(dagger(decimal(r.highest), r.unsure()))
			}
			return append(cells, highest, text(orDash(r.in.Release.Target)))
		},
	})
	note := "Feed: " + orDash(b.doc.Feed.Name) + ", " + day(b.doc.Feed.Date) + ". Behind: minor releases between the running and the latest one. " +
		"Clears all: the lowest version without an open CVE. CVEs whose precondition does not hold here are left out; the CVE appendix has all."
	if unsure {
		note += " † With CVEs that are not ruled out: a precondition could not be read, or nobody looked at that version."
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
