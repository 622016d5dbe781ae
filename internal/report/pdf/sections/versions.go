package sections

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/report/pdf/blocks"
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

// versionRows are the instances whose version the feed knows: past end
// of life first, then highest CVSS, open before not ruled out, then name.
func versionRows(b *blocks.Builder) []versionRow {
	var rows []versionRow
	for i := range b.Doc.Instances {
		in := &b.Doc.Instances[i]
		if in.Release == nil {
			continue
		}
		row := versionRow{in: *in, cves: analysis.CVEs(b.Doc, in)}
		if _, ended := analysis.Ended(b.Doc, in); ended {
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

// Versions writes the versions in use, and their end of support and CVEs.
func Versions(b *blocks.Builder) {
	rows := versionRows(b)
	feed := "the feed of " + blocks.Day(b.Doc.Feed.Date)
	if len(rows) == 0 {
		b.State(blocks.StateNotAssessed, "Not assessed: "+feed+" knows the version of none of the instances in scope.")
	} else {
		versionLead(b, rows, feed)
		versionTable(b, rows)
		upgradeCosts(b, rows)
	}
	for _, r := range rows {
		if as := r.in.Release.RegisteredAs; as != "" {
			version, _ := analysis.Version(&r.in)
			b.State(blocks.StateNotAssessed, "Contradicted: "+blocks.Shorten(r.in.Name, 80)+" is registered as "+blocks.Shorten(as, 60)+" and reports "+blocks.Shorten(version, 60)+
				". Muster judges the version that the server reports. Find out which of the two is wrong, or whether these are two servers.")
		}
	}
	sayUntried(b)
	SayGaps(b, versionGaps(b, feed))
}

// Untried says that the version of an instance is newer than all with which Muster was tried;
// empty if it is not.
func Untried(in *snapshot.Instance) string {
	version, _ := analysis.Version(in)
	return fleet.NewerThanTried(fleet.Engine(in.Engine), version)
}

// sayUntried names the active instances of versions that are newer than all with which Muster was tried.
func sayUntried(b *blocks.Builder) {
	var names []string
	newer := ""
	for i := range b.Doc.Instances {
		in := &b.Doc.Instances[i]
		if says := Untried(in); in.Active && says != "" {
			version, _ := analysis.Version(in)
			newer, names = says, append(names, blocks.Shorten(in.Name, 80)+" "+blocks.Shorten(version, 40))
		}
	}
	if len(names) > 0 {
		b.State(blocks.StateNotAssessed, "Untried: "+strings.Join(names, ", ")+" "+blocks.Verb(len(names), "is", "are")+" "+newer+
			". Checks and measurements may miss what the version changed.")
	}
}

// versionGaps are the instances that the feed says nothing about.
func versionGaps(b *blocks.Builder, feed string) []Gap {
	var gaps []Gap
	for i := range b.Doc.Instances {
		in := &b.Doc.Instances[i]
		version, _ := analysis.Version(in)
		g := Gap{State: blocks.StateNotAssessed, Places: []string{blocks.Shorten(in.Name, 80) + Before(" ", blocks.Shorten(version, 40))}}
		switch {
		case analysis.CVEsWhole(in):
			continue
		case analysis.KeptBy(in) != "":
			g.State, g.Reason = blocks.StateNotApplicable, analysis.KeptBy(in)+" keeps its version up to date"
		case !in.Active && in.Release == nil:
			g.Reason = analysis.WhyNotAssessed(in)
		case in.Release != nil && in.Release.CVEGap != "":
			g.Reason, g.inPart = in.Release.CVEGap, analysis.CVEsKnown(in)
		case in.Release != nil:
			g.Reason = feed + " knows its end of life and none of the CVEs of " + analysis.EngineName(in.Engine)
		case !engine.FixedReleases(in.Engine):
			g.State, g.Reason = blocks.StateNotApplicable, "the feed does not cover "+analysis.EngineName(in.Engine)
		case version == "":
			g.Reason = "no version is known"
		default:
			g.Reason = feed + " does not know that version"
		}
		gaps = append(gaps, g)
	}
	return gaps
}

func versionLead(b *blocks.Builder, rows []versionRow, feed string) {
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
	past := blocks.Number(ended) + " " + blocks.Verb(ended, "runs", "run") + " a major version past its end of life."
	if ended == 0 {
		past = "none runs a major version past its end of life."
	}
	if known == 0 {
		b.Para("For " + blocks.Count(len(rows), "instance", "instances") + ", " + feed + " knows the end of life but no CVEs; " + past)
		return
	}
	if vulnerable+possible+ended == 0 {
		words := "All " + blocks.Count(known, "instance runs", "instances run")
		if known == 1 {
			words = "The one instance runs"
		}
		if known < len(rows) {
			words = blocks.Number(known) + " of " + blocks.Count(len(rows), "instance", "instances") + " " + blocks.Verb(known, "runs", "run")
		}
		b.Clean(whole == b.Assessed.Total, words+" a version for which "+feed+" lists no open CVE.")
		return
	}
	words := blocks.Number(vulnerable) + " of " + blocks.Count(known, "instance", "instances") + " whose version " + feed + " knows " + blocks.Verb(vulnerable, "has", "have")
	switch {
	case known == 1 && vulnerable == 1:
		words = "The one instance whose version " + feed + " knows has"
	case known == vulnerable:
		words = "All " + blocks.Number(known) + " instances whose version " + feed + " knows have"
	}
	words += " at least one open CVE"
	if possible > 0 {
		words += "; on " + blocks.Number(possible) + " more it is not ruled out"
	}
	b.Para(words + "; " + past)
}

func versionTable(b *blocks.Builder, rows []versionRow) {
	right := typeset.Right
	blocks.Table(b, []typeset.Column{
		{Title: "Instance, version", Flex: 1}, {Title: "End of life"}, {Title: "Latest known release", Max: 112},
		{Title: "Open: C, H, M, L", Align: right}, {Title: "Max CVSS", Align: right}, {Title: "Not ruled out", Align: right}, {Title: "Go to", Max: 84},
	}, rows, func(_ int, r versionRow) []typeset.Cell {
		version, answered := analysis.Version(&r.in)
		running := analysis.EngineName(r.in.Engine) + " " + blocks.OrDash(version)
		if !answered {
			running += ", as registered"
		}
		if !r.in.Active {
			running += ", inactive"
		}
		running += Before(", ", blocks.Shorten(analysis.Edition(&r.in), 60))
		if as := r.in.Release.RegisteredAs; as != "" {
			running += ", registered as " + blocks.Shorten(as, 40)
		}
		cells := []typeset.Cell{
			{Text: r.in.Name, Style: blocks.CellStrong, Sub: running, SubStyle: blocks.CellMuted}, endOfLife(b, r.in.Release.EndOfLife), latestMinor(r.in.Release)}
		if !analysis.CVEsKnown(&r.in) {
			return append(cells, blocks.Faint("–"), blocks.Faint("–"), blocks.Faint("–"), target(r.in.Release))
		}
		cells = append(cells, openBySeverity(r))
		highest := blocks.Faint("–")
		if r.cves.HighestOpen > 0 {
			highest = blocks.Strong(blocks.Decimal(r.cves.HighestOpen))
		}
		return append(cells, highest, possibleCell(r.cves, analysis.CVEsWhole(&r.in)), target(r.in.Release))
	})
	to := "Go to: the lowest version of the same major without an open CVE. From a major past its end of life: the newest major that the feed knows, and the end of its support."
	if advised(rows) {
		to = "Go to: the lowest version of the major that clears everything open or not ruled out, else the major with the longest support. Below it: the version with the longest support, and its end."
	}
	b.Small("Feed: " + blocks.OrDash(b.Doc.Feed.Name) + ", " + blocks.Day(b.Doc.Feed.Date) + ". " +
		"Open: CVEs from critical to low, with the highest CVSS. Not ruled out: CVEs whose precondition could not be read, or whose version the vendor did not analyze; no other column counts them. " +
		"cves.csv has also those that are not exploitable here. " + to)
}

// openBySeverity has the numbers of open CVEs from critical to low. A dash says that none is known, which is not none.
func openBySeverity(r versionRow) typeset.Cell {
	numbers := make([]string, len(r.cves.Open))
	for i, n := range r.cves.Open {
		numbers[i] = blocks.Number(n)
		if n == 0 && !analysis.CVEsWhole(&r.in) {
			numbers[i] = "–"
		}
	}
	cell := blocks.Strong(strings.Join(numbers, " / "))
	if r.cves.Open.Total() == 0 {
		cell.Style = blocks.CellMuted
	}
	return cell
}

// advised says whether the advice says what it costs, which it did not always.
func advised(rows []versionRow) bool {
	return slices.ContainsFunc(rows, func(r versionRow) bool { return r.in.Release.Cost != "" || r.in.Release.Longest != nil })
}

// cveGaps says whether the feed knows some of the CVEs of an instance and not all.
func cveGaps(b *blocks.Builder) bool {
	return slices.ContainsFunc(versionRows(b), func(r versionRow) bool { return analysis.CVEsKnown(&r.in) && !analysis.CVEsWhole(&r.in) })
}

// upgradeCosts says what going where the table points to takes, once a way.
func upgradeCosts(b *blocks.Builder, rows []versionRow) {
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
	b.Sub("Upgrade effort")
	blocks.Table(b, []typeset.Column{{Title: "From", Max: 110}, {Title: "To", Max: 105}, {Title: "Effort", Flex: 1}}, ways, func(_ int, w way) []typeset.Cell {
		slices.Sort(w.from)
		slices.Sort(w.to)
		return []typeset.Cell{blocks.Strong(w.engine + " " + strings.Join(w.from, ", ")), blocks.Text(strings.Join(w.to, "; ")), blocks.Text(blocks.Sentence(w.cost))}
	})
	if cveGaps(b) {
		b.Small("A dash in a CVE column: none is known. For the instances below, the feed is incomplete: there are more CVEs.")
	}
}

// versioned is a major with its latest build, where that is known.
func versioned(version, build string) string { return version + Before(": ", build) }

// latestMinor is the latest release of a major, with how many the running one is behind,
// and since when.
func latestMinor(r *snapshot.Release) typeset.Cell {
	cell := blocks.Text(blocks.OrDash(r.Latest))
	switch {
	case r.MinorsBehind > 0:
		cell.Sub, cell.SubStyle = blocks.Number(r.MinorsBehind)+" behind", blocks.CellMuted
	case r.Behind:
		cell.Sub, cell.SubStyle = "behind", blocks.CellMuted
	}
	if r.LatestAt != nil {
		cell.Sub, cell.SubStyle = cell.Sub+After(cell.Sub, ", ")+"of "+blocks.Day(*r.LatestAt), blocks.CellMuted
	}
	if r.KnownUntil != nil && r.Latest != "" {
		cell.Sub, cell.SubStyle = cell.Sub+After(cell.Sub, "; ")+"list known until "+blocks.Day(*r.KnownUntil), blocks.CellMuted
	}
	return cell
}

// possibleCell counts what is not ruled out.
func possibleCell(c analysis.CVECounts, whole bool) typeset.Cell {
	n := c.Possible.Total()
	if n == 0 && !whole {
		return blocks.Faint("–")
	}
	if n == 0 {
		return blocks.Faint("0")
	}
	return typeset.Cell{Text: blocks.Number(n), Sub: "to " + blocks.Decimal(c.HighestPossible), SubStyle: blocks.CellMuted}
}

// target is the recommended version, and how long its major is supported if it is another one.
func target(r *snapshot.Release) typeset.Cell {
	cell := blocks.Text(blocks.OrDash(r.Target))
	if r.Longest != nil {
		cell.Sub, cell.SubStyle = Before("then ", r.Longest.Version)+" to "+blocks.Day(r.Longest.EndOfLife), blocks.CellMuted
		if r.Target == "" {
			cell.Sub = r.Longest.Version + " has support to " + blocks.Day(r.Longest.EndOfLife)
		}
		return cell
	}
	if r.TargetEndOfLife != nil && r.EndOfLife != nil && !r.TargetEndOfLife.Equal(*r.EndOfLife) {
		cell.Sub, cell.SubStyle = "to "+blocks.Day(*r.TargetEndOfLife), blocks.CellMuted
	}
	return cell
}

// ZeroFaint is a number whose zero is in gray.
func ZeroFaint(n int) typeset.Cell {
	if n == 0 {
		return blocks.Faint("0")
	}
	return blocks.Strong(blocks.Number(n))
}

func endOfLife(b *blocks.Builder, end *time.Time) typeset.Cell {
	if end == nil {
		return blocks.Faint("–")
	}
	days := blocks.Days(b.Doc.AsOf, *end)
	cell := typeset.Cell{Text: blocks.Day(*end), Sub: blocks.Count(days, "day", "days") + " left", SubStyle: blocks.CellMuted}
	if analysis.Over(b.Doc, *end) {
		cell.Sub = blocks.Count(-days, "day", "days") + " ago"
		cell.SubStyle = typeset.Style{Face: typeset.Bold, Size: 9, Color: blocks.SeverityColor[analysis.Critical]}
	}
	return cell
}
