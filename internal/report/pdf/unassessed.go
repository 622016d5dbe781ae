package pdf

import (
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

// toAssess is what the one instance of a report lacks to be assessed.
func (b *builder) toAssess() []string {
	if in := b.subject(); in != nil && b.kind.OneInstance {
		return analysis.ToAssess(b.doc, in)
	}
	return nil
}

// beforeSteps says on page 1 that an assessment comes before everything else.
func (b *builder) beforeSteps(all []string) {
	if len(all) == 0 {
		return
	}
	b.partTitle("First, have it assessed", "“Remediation plan” has it, too")
	for i, words := range all {
		b.d.Need(2 * standingRow)
		b.d.Page().Text(b.d.Left()+4, b.d.Y+9, colored(rowStrong, accent), typeset.Left, number(i+1))
		b.d.ParagraphWithin(18, b.d.TextWidth()-18, 1.4, typeset.Span{Text: words, Style: rowStyle})
		b.d.Y += 3
	}
	b.d.Y += gapAfter
}

// knownAnyway lists what is known about an instance that was not assessed.
func (b *builder) knownAnyway() {
	in := b.subject()
	if in == nil {
		return
	}
	b.sub("What is known without an assessment")
	rows := [][2]string{{"Version", b.versionWords()}, {"Support", b.supportWords()}, {"CVEs", b.cveWords()}}
	if b.doc.Window != nil {
		rows = append(rows, [2]string{"Host", b.hostWords()}, [2]string{"Alerts", b.alertsInShort()})
	}
	table(b, []typeset.Column{{Title: ""}, {Title: "As of the snapshot, or in the window", Flex: 1}}, rows, func(_ int, row [2]string) []typeset.Cell {
		return []typeset.Cell{strong(row[0]), text(row[1])}
	})
}

func (b *builder) versionWords() string {
	version, answered := analysis.Version(b.subject())
	newer := before("; ", untried(b.subject()))
	switch {
	case version == "":
		return "not known: none is registered"
	case answered:
		return analysis.EngineName(b.subject().Engine) + " " + version + ", as the server answered" + newer
	}
	return analysis.EngineName(b.subject().Engine) + " " + version + ", as it was registered; the server was not asked" + newer
}

func (b *builder) supportWords() string {
	r := b.subject().Release
	switch {
	case r == nil || r.EndOfLife == nil:
		return "the end of its support is not known"
	case analysis.Over(b.doc, *r.EndOfLife):
		return r.Major + " has been past its end of life since " + day(*r.EndOfLife) + " and gets no more fixes" + before("; go to ", r.Target)
	}
	return r.Major + " gets fixes until " + day(*r.EndOfLife) + ", for " + months(b.doc.AsOf, *r.EndOfLife)
}

func (b *builder) cveWords() string {
	in := b.subject()
	if !analysis.CVEsKnown(in) {
		return "not known of this version"
	}
	c := analysis.CVEs(b.doc, in)
	words := number(c.Open.Total()) + " open, " + number(c.Possible.Total()) + " not ruled out"
	if c.Open.Total() > 0 {
		words += "; the worst open one has CVSS " + decimal(c.HighestOpen)
	}
	if !analysis.CVEsWhole(in) {
		words += "; not all of this version are known"
	}
	return words
}

// hostWords sums the section on resources up.
func (b *builder) hostWords() string {
	s, ok := analysis.Utilization(b.doc)
	if !ok || s.Hosts == 0 {
		return "not measured"
	}
	var words string
	for i, name := range resourceNames {
		r := s.Of[i]
		words += after(words, ", ") + name.name + " "
		if r.Measured == 0 {
			words += "not measured"
			continue
		}
		words += "at most " + points(r.P95) + " in 95 of 100 hours" + fewMeasured(r)
	}
	return words
}

func (b *builder) alertsInShort() string {
	s, ok := analysis.Alerts(b.doc)
	if !ok {
		return "not known"
	}
	return count(s.All.Raised, "alert", "alerts") + " raised, " + number(s.All.Open) + " open at the end"
}
