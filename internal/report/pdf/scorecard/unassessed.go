package scorecard

import (
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/analysis/window"
)

// beforeSteps says on page 1 that an assessment comes before everything else.
func beforeSteps(b *blocks.Builder, all []string) {
	if len(all) == 0 {
		return
	}
	b.PartTitle("First, have it assessed", "“Remediation plan” has it, too")
	for i, words := range all {
		b.Paper.Need(2 * blocks.StandingRow)
		b.Paper.Page().Text(b.Paper.Left()+4, b.Paper.Y+9, blocks.Colored(blocks.RowStrong, blocks.Accent), typeset.Left, blocks.Number(i+1))
		b.Paper.ParagraphWithin(18, b.Paper.TextWidth()-18, 1.4, typeset.Span{Text: words, Style: blocks.RowStyle})
		b.Paper.Y += 3
	}
	b.Paper.Y += blocks.GapAfter
}

// knownAnyway lists what is known about an instance that was not assessed.
func knownAnyway(b *blocks.Builder) {
	in := sections.Subject(b)
	if in == nil {
		return
	}
	b.Sub("Known without an assessment")
	rows := [][2]string{{"Version", versionWords(b)}, {"Support", supportWords(b)}, {"CVEs", cveWords(b)}}
	if b.Doc.Window != nil {
		rows = append(rows, [2]string{"Host", hostWords(b)}, [2]string{"Alerts", alertsInShort(b)})
	}
	blocks.Table(b, []typeset.Column{{Title: ""}, {Title: "As of the snapshot, or in the window", Flex: 1}}, rows, func(_ int, row [2]string) []typeset.Cell {
		return []typeset.Cell{blocks.Strong(row[0]), blocks.Text(row[1])}
	})
}

func versionWords(b *blocks.Builder) string {
	version, answered := analysis.Version(sections.Subject(b))
	newer := sections.Before("; ", sections.Untried(sections.Subject(b)))
	switch {
	case version == "":
		return "not known: none is registered"
	case answered:
		return analysis.EngineName(sections.Subject(b).Engine) + " " + version + ", as the server answered" + newer
	}
	return analysis.EngineName(sections.Subject(b).Engine) + " " + version + ", as it was registered; the server was not asked" + newer
}

func supportWords(b *blocks.Builder) string {
	r := sections.Subject(b).Release
	switch {
	case r == nil || r.EndOfLife == nil:
		return "the end of its support is not known"
	case analysis.Over(b.Doc, *r.EndOfLife):
		return r.Major + " has been past its end of life since " + blocks.Day(*r.EndOfLife) + " and gets no more fixes" + sections.Before("; go to ", r.Target)
	}
	return r.Major + " gets fixes until " + blocks.Day(*r.EndOfLife) + ", for " + blocks.Months(b.Doc.AsOf, *r.EndOfLife)
}

func cveWords(b *blocks.Builder) string {
	in := sections.Subject(b)
	if !analysis.CVEsKnown(in) {
		return "not known of this version"
	}
	c := analysis.CVEs(b.Doc, in)
	words := blocks.Number(c.Open.Total()) + " open, " + blocks.Number(c.Possible.Total()) + " not ruled out"
	if c.Open.Total() > 0 {
		words += "; the worst open one has CVSS " + blocks.Decimal(c.HighestOpen)
	}
	if !analysis.CVEsWhole(in) {
		words += "; not all of this version are known"
	}
	return words
}

// hostWords sums the section on resources up.
func hostWords(b *blocks.Builder) string {
	s, ok := window.Utilization(b.Doc)
	if !ok || s.Hosts == 0 {
		return "not measured"
	}
	var words string
	for i, name := range resourceNames {
		r := s.Of[i]
		words += sections.After(words, ", ") + name.name + " "
		if r.Measured == 0 {
			words += "not measured"
			continue
		}
		words += "at most " + points(r.P95) + " in 95 of 100 hours" + fewMeasured(r)
	}
	return words
}

func alertsInShort(b *blocks.Builder) string {
	s, ok := window.Alerts(b.Doc)
	if !ok {
		return "not known"
	}
	return blocks.Count(s.All.Raised, "alert", "alerts") + " raised, " + blocks.Number(s.All.Open) + " open at the end"
}
