package scorecard

import (
	"strconv"
	"strings"

	"muster/internal/engine/tuning"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/analysis/window"
)

// recommendTuning holds settings against the machine and the window's load.
func recommendTuning(b *blocks.Builder) {
	if b.Doc.Tuning == nil { // inputs of a version that did not ask
		b.Small("This version of Muster gives no hints on memory settings and slow queries.")
		return
	}
	b.Sub("Settings against machine and load")
	hints, ok := window.Hints(b.Doc)
	if !ok {
		b.State(blocks.StateNotApplicable, "Not applicable: there are no hints for "+analysis.EngineName(sections.Subject(b).Engine)+".")
		return
	}
	if len(b.Doc.Tuning.Settings) == 0 {
		b.State(blocks.StateNotAssessed, "Not assessed: no assessment reported a setting that has hints ("+strings.Join(window.HintedSettings(sections.Subject(b).Engine), ", ")+").")
		b.Para(loadWords(b))
		return
	}
	b.Para(hintCounts(hints) + loadWords(b))
	tuning.Sort(hints)
	blocks.Table(b, []typeset.Column{
		{Title: "", Max: 60}, {Title: "Setting, what it is held against", Flex: 1.1}, {Title: "Measured", Flex: 1}, {Title: "Suggestion", Flex: 1.2},
	}, hints, func(_ int, h tuning.Hint) []typeset.Cell {
		suggestion := typeset.Cell{Text: h.Suggestion, Style: blocks.CellStrong, Sub: h.Source.Name, SubStyle: blocks.CellMuted}
		switch h.State {
		case tuning.Fits:
			suggestion.Text, suggestion.Style = "leave it", blocks.CellMuted
		case tuning.Unknown:
			suggestion.Style = blocks.CellMuted
		}
		return []typeset.Cell{hintState(h.State), {Text: h.Setting, Style: blocks.CodeStyle, Sub: h.Against, SubStyle: blocks.CellMuted}, blocks.Text(blocks.Shorten(h.Measured, 200)), suggestion}
	})
	sources(b, hints)
	b.Small("A hint is only as good as its inputs. It is no check and costs no points. It assumes that the host runs this instance alone. " +
		"Try one change at a time, and compare the figures of the next window. Slow queries are not part of this.")
}

func hintState(state string) typeset.Cell {
	switch state {
	case tuning.Change:
		return typeset.Cell{Text: "change", Style: blocks.CellStrong, Mark: blocks.SeverityColor[analysis.Medium]}
	case tuning.Fits:
		return typeset.Cell{Text: "fits", Mark: blocks.Good}
	}
	return typeset.Cell{Text: "not judged", Mark: blocks.Caution}
}

// hintCounts says what there is to do.
func hintCounts(hints []tuning.Hint) string {
	n := map[string]int{}
	for _, h := range hints {
		n[h.State]++
	}
	return blocks.Count(len(hints), "hint", "hints") + ": " + blocks.Shares([]blocks.Share{
		{N: n[tuning.Change], Words: "to change"}, {N: n[tuning.Fits], Words: "that " + blocks.Verb(n[tuning.Fits], "fits", "fit")}, {N: n[tuning.Unknown], Words: "that cannot be judged"},
	}) + ". "
}

// loadWords says with what the settings are compared.
func loadWords(b *blocks.Builder) (words string) {
	t := b.Doc.Tuning
	for _, m := range t.Machines {
		words += machineWords(m)
	}
	if len(t.Machines) == 0 {
		words += "No agent reported the size of the host in the last three days. "
	}
	if w := t.Waits; w != nil {
		words += "In the " + blocks.Number(w.Hours) + " of " + blocks.Count(w.Of, "hour", "hours") + " of the window with a sample, on average " + blocks.Decimals(w.IO) + " sessions waited for I/O at once, " +
			blocks.Decimals(w.Locks) + " for locks, " + blocks.Decimals(w.Latches) + " for lightweight locks."
		if w.Partial {
			words += " This is partial: the sampling role does not see all sessions."
		}
	} else {
		words += "No sessions were sampled in the window, so their waits are not known."
	}
	return words
}

func machineWords(m snapshot.Machine) string {
	memory, cpus := "memory not known", "CPUs not known"
	if m.MemoryBytes != nil {
		memory = tuning.Size(float64(*m.MemoryBytes)) + " of memory"
	}
	if m.CPUs != nil {
		cpus = strconv.Itoa(*m.CPUs) + " CPUs"
	}
	return "Host " + blocks.Shorten(m.Host, 80) + " (" + blocks.Minute(m.At) + "): " + memory + ", " + cpus + ". "
}

// sources lists the pages that hints stand on, to click.
func sources(b *blocks.Builder, hints []tuning.Hint) {
	spans := []typeset.Span{{Text: "Sources: ", Style: blocks.SmallStyle}}
	seen := map[string]bool{}
	for _, h := range hints {
		if seen[h.Source.Address] {
			continue
		}
		if len(seen) > 0 {
			spans = append(spans, typeset.Span{Text: "; ", Style: blocks.SmallStyle})
		}
		seen[h.Source.Address] = true
		spans = append(spans, typeset.Span{Text: h.Source.Name, Style: blocks.Linked(blocks.SmallStyle, h.Source.Address)})
	}
	b.Paper.Paragraph(0, 1.4, spans...)
	b.Paper.Y += 4
}
