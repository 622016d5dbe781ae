package pdf

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// versionRow is what the feed knows of one instance.
type versionRow struct {
	in    snapshot.Instance
	cves  analysis.CVECounts
	ended int // 1: its major version is past its end of life
}

// versionRows are the active instances whose version the feed knows: past end
// of life first, then highest CVSS, open before not ruled out, then name.
func (b *builder) versionRows() []versionRow {
	var rows []versionRow
	for i := range b.doc.Instances {
		in := &b.doc.Instances[i]
		if !in.Active || in.Release == nil {
			continue
		}
		row := versionRow{in: *in, cves: analysis.CVEs(b.doc, in)}
		if _, ended := analysis.Ended(b.doc, in); ended {
			row.ended = 1
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b versionRow) int {
		return cmp.Or(cmp.Compare(b.ended, a.ended), cmp.Compare(b.cves.HighestOpen, a.cves.HighestOpen),
			cmp.Compare(b.cves.HighestPossible, a.cves.HighestPossible), strings.Compare(a.in.Name, b.in.Name))
	})
	return rows
}

func (b *builder) versions() {
	rows := b.versionRows()
	feed := "the feed of " + day(b.doc.Feed.Date)
	if len(rows) == 0 {
		b.state(stateNotAssessed, "Not assessed: "+feed+" knows the version of none of the instances in scope.")
	} else {
		b.versionLead(rows, feed)
		b.versionTable(rows)
		b.upgradeCosts(rows)
	}
	for _, r := range rows {
		if as := r.in.Release.RegisteredAs; as != "" {
			version, _ := analysis.Version(&r.in)
			b.state(stateNotAssessed, "Contradicted: "+shorten(r.in.Name, 80)+" is registered as "+shorten(as, 60)+" and reports "+shorten(version, 60)+
				". Muster judges the version that the server reports. Find out which of the two is wrong, or whether these are two servers.")
		}
	}
	b.sayUntried()
	b.sayGaps(b.versionGaps(feed))
}

// untried says that the version of an instance is newer than all with which Muster was tried;
// empty if it is not.
func untried(in *snapshot.Instance) string {
	version, _ := analysis.Version(in)
	return fleet.NewerThanTried(fleet.Engine(in.Engine), version)
}

// sayUntried names the active instances of versions that are newer than all with which Muster was tried.
func (b *builder) sayUntried() {
	var names []string
	newer := ""
	for i := range b.doc.Instances {
		in := &b.doc.Instances[i]
		if says := untried(in); in.Active && says != "" {
			version, _ := analysis.Version(in)
			newer, names = says, append(names, shorten(in.Name, 80)+" "+shorten(version, 40))
		}
	}
	if len(names) > 0 {
		b.state(stateNotAssessed, "Untried: "+strings.Join(names, ", ")+" "+verb(len(names), "is", "are")+" "+newer+
			". Checks and measurements may miss what the version changed.")
	}
}

// versionGaps are the instances that the feed says nothing about.
func (b *builder) versionGaps(feed string) []gap {
	var gaps []gap
	for i := range b.doc.Instances {
		in := &b.doc.Instances[i]
		version, _ := analysis.Version(in)
		g := gap{state: stateNotAssessed, places: []string{shorten(in.Name, 80) + before(" ", shorten(version, 40))}}
		switch {
		case in.Active && analysis.CVEsWhole(in):
			continue
		case !in.Active:
			g.reason = analysis.WhyNotAssessed(in)
		case in.Release != nil && in.Release.CVEGap != "":
			g.reason, g.inPart = in.Release.CVEGap, analysis.CVEsKnown(in)
		case in.Release != nil:
			g.reason = feed + " knows its end of life and none of the CVEs of " + analysis.EngineName(in.Engine)
		case !engine.FixedReleases(in.Engine):
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
	vulnerable, possible, ended, known, whole := 0, 0, 0, 0, 0
	for _, r := range rows {
		if analysis.CVEsWhole(&r.in) {
			whole++
		}
		if analysis.CVEsKnown(&r.in) {
			known++
		}
		switch {
		case r.cves.Open.Total() > 0:
			vulnerable++
		case r.cves.Possible.Total() > 0:
			possible++
		}
		ended += r.ended
	}
	past := number(ended) + " " + verb(ended, "runs", "run") + " a major version past its end of life."
	if ended == 0 {
		past = "none runs a major version past its end of life."
	}
	if known == 0 {
		b.para("For " + count(len(rows), "instance", "instances") + ", " + feed + " knows the end of life but no CVEs; " + past)
		return
	}
	if vulnerable+possible+ended == 0 {
		words := "All " + count(known, "instance runs", "instances run")
		if known == 1 {
			words = "The one instance runs"
		}
		if known < len(rows) {
			words = number(known) + " of " + count(len(rows), "instance", "instances") + " " + verb(known, "runs", "run")
		}
		b.clean(whole == b.assessed.Total, words+" a version for which "+feed+" lists no open CVE.")
		return
	}
	words := number(vulnerable) + " of " + count(known, "instance", "instances") + " whose version " + feed + " knows " + verb(vulnerable, "has", "have")
	switch {
	case known == 1 && vulnerable == 1:
		words = "The one instance whose version " + feed + " knows has"
	case known == vulnerable:
		words = "All " + number(known) + " instances whose version " + feed + " knows have"
	}
	words += " at least one open CVE"
	if possible > 0 {
		words += "; on " + number(possible) + " more it is not ruled out"
	}
	b.para(words + "; " + past)
}

func (b *builder) versionTable(rows []versionRow) {
	right := typeset.Right
	table(b, []typeset.Column{
		{Title: "Instance, version", Flex: 1}, {Title: "End of life"}, {Title: "Latest release"},
		{Title: "Crit.", Align: right}, {Title: "High", Align: right}, {Title: "Med.", Align: right}, {Title: "Low", Align: right},
		{Title: "Max CVSS", Align: right}, {Title: "Not ruled out", Align: right}, {Title: "Go to"},
	}, rows, func(_ int, r versionRow) []typeset.Cell {
		version, answered := analysis.Version(&r.in)
		running := analysis.EngineName(r.in.Engine) + " " + orDash(version)
		if !answered {
			running += ", as registered"
		}
		running += before(", ", shorten(analysis.Edition(&r.in), 60))
		if as := r.in.Release.RegisteredAs; as != "" {
			running += ", registered as " + shorten(as, 40)
		}
		cells := []typeset.Cell{
			{Text: r.in.Name, Style: cellStrong, Sub: running, SubStyle: cellMuted}, b.endOfLife(r.in.Release.EndOfLife), latestMinor(r.in.Release)}
		if !analysis.CVEsKnown(&r.in) {
			for range len(r.cves.Open) + 2 {
				cells = append(cells, faint("–"))
			}
			return append(cells, b.target(r.in.Release))
		}
		for _, n := range r.cves.Open {
			if n == 0 && !analysis.CVEsWhole(&r.in) { // none is known, which is not none
				cells = append(cells, faint("–"))
				continue
			}
			cells = append(cells, zeroFaint(n))
		}
		highest := faint("–")
		if r.cves.HighestOpen > 0 {
			highest = strong(decimal(r.cves.HighestOpen))
		}
		return append(cells, highest, possibleCell(r.cves, analysis.CVEsWhole(&r.in)), b.target(r.in.Release))
	})
	to := "Go to: the lowest version of the same major without an open CVE. From a major past its end of life: the newest major that the feed knows, and the end of its support."
	if advised(rows) {
		to = "Go to: the version that clears everything open or not ruled out. Below it: the version with the longest support that does, and the end of that support. " +
			"Within a major, this is the lowest version that clears all, or the latest for engines with numbered builds. If the major is past its end of life, or none of its builds clears all, it is the major with the longest support."
	}
	b.small("Feed: " + orDash(b.doc.Feed.Name) + ", " + day(b.doc.Feed.Date) + ". " +
		"Crit. to Low and Max CVSS: open CVEs. Not ruled out: CVEs whose precondition could not be read, or whose version the vendor did not analyze, with their highest CVSS. No other column counts them. " +
		"CVEs whose precondition is not met here, and those of client programs, are left out; the CVE appendix has all. " + to)
}

// advised says whether the advice says what it costs, which it did not always.
func advised(rows []versionRow) bool {
	return slices.ContainsFunc(rows, func(r versionRow) bool { return r.in.Release.Cost != "" || r.in.Release.Longest != nil })
}

// cveGaps says whether the feed knows some of the CVEs of an instance and not all.
func (b *builder) cveGaps() bool {
	return slices.ContainsFunc(b.versionRows(), func(r versionRow) bool { return analysis.CVEsKnown(&r.in) && !analysis.CVEsWhole(&r.in) })
}

// upgradeCosts says what going where the table points to takes, once a way.
func (b *builder) upgradeCosts(rows []versionRow) {
	if !advised(rows) {
		return
	}
	type way struct {
		engine, cost string
		from, to     []string
	}
	var ways []way
	add := func(engine, from, to, cost string) {
		i := slices.IndexFunc(ways, func(w way) bool { return w.engine == engine && w.cost == cost })
		if i < 0 {
			i = len(ways)
			ways = append(ways, way{engine: engine, cost: cost})
		}
		w := &ways[i]
		if !slices.Contains(w.from, from) {
			w.from = append(w.from, from)
		}
		if !slices.Contains(w.to, to) {
			w.to = append(w.to, to)
		}
	}
	for _, r := range rows {
		release, engine := r.in.Release, analysis.EngineName(r.in.Engine)
		if release.Target != "" && release.Cost != "" {
			add(engine, release.Major, versioned(release.Target, release.TargetBuild), release.Cost)
		}
		if l := release.Longest; l != nil && l.Cost != "" {
			add(engine, release.Major, versioned(l.Version, l.Build), l.Cost)
		}
	}
	slices.SortStableFunc(ways, func(a, b way) int {
		return cmp.Or(strings.Compare(a.engine, b.engine), strings.Compare(a.cost, b.cost))
	})
	b.sub("Upgrade effort")
	table(b, []typeset.Column{{Title: "From", Max: 110}, {Title: "To", Max: 105}, {Title: "Effort", Flex: 1}}, ways, func(_ int, w way) []typeset.Cell {
		slices.Sort(w.from)
		slices.Sort(w.to)
		return []typeset.Cell{strong(w.engine + " " + strings.Join(w.from, ", ")), text(strings.Join(w.to, "; ")), text(sentence(w.cost))}
	})
	if b.cveGaps() {
		b.small("A dash in a CVE column: none is known. For the instances below, the feed is incomplete: there are more CVEs.")
	}
}

// versioned is a major with its latest build, where that is known.
func versioned(version, build string) string { return version + before(": ", build) }

// latestMinor is the latest release of a major, with how many the running one is behind,
// and since when.
func latestMinor(r *snapshot.Release) typeset.Cell {
	cell := text(orDash(r.Latest))
	switch {
	case r.MinorsBehind > 0:
		cell.Sub, cell.SubStyle = number(r.MinorsBehind)+" behind", cellMuted
	case r.Behind:
		cell.Sub, cell.SubStyle = "behind", cellMuted
	}
	if r.LatestAt != nil {
		cell.Sub, cell.SubStyle = cell.Sub+after(cell.Sub, ", ")+"of "+day(*r.LatestAt), cellMuted
	}
	return cell
}

// possibleCell counts what is not ruled out.
func possibleCell(c analysis.CVECounts, whole bool) typeset.Cell {
	n := c.Possible.Total()
	if n == 0 && !whole {
		return faint("–")
	}
	if n == 0 {
		return faint("0")
	}
	return typeset.Cell{Text: number(n), Sub: "to " + decimal(c.HighestPossible), SubStyle: cellMuted}
}

// target is the recommended version, and how long its major is supported if it is another one.
func (b *builder) target(r *snapshot.Release) typeset.Cell {
	cell := text(orDash(r.Target))
	if r.Longest != nil {
		cell.Sub, cell.SubStyle = before("then ", r.Longest.Version)+" to "+day(r.Longest.EndOfLife), cellMuted
		if r.Target == "" {
			cell.Sub = r.Longest.Version + " has support to " + day(r.Longest.EndOfLife)
		}
		return cell
	}
	if r.TargetEndOfLife != nil && r.EndOfLife != nil && !r.TargetEndOfLife.Equal(*r.EndOfLife) {
		cell.Sub, cell.SubStyle = "to "+day(*r.TargetEndOfLife), cellMuted
	}
	return cell
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
	if analysis.Over(b.doc, *end) {
		cell.Sub = count(-days, "day", "days") + " ago"
		cell.SubStyle = typeset.Style{Face: typeset.Bold, Size: 8, Color: severityColor[analysis.Critical]}
	}
	return cell
}
