package pdf

import (
	"strconv"
	"strings"

	"muster/internal/engine/tuning"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// tuning holds settings against the machine and the window's load.
func (b *builder) tuning() {
	if b.doc.Tuning == nil { // inputs of a version that did not ask
		b.small("This version of Muster gives no hints on memory settings and slow queries.")
		return
	}
	b.sub("Settings against machine and load")
	hints, ok := analysis.Hints(b.doc)
	if !ok {
		b.state(stateNotApplicable, "Not applicable: there are no hints for "+analysis.EngineName(b.subject().Engine)+".")
		return
	}
	if len(b.doc.Tuning.Settings) == 0 {
		b.state(stateNotAssessed, "Not assessed: no assessment reported a setting that has hints ("+strings.Join(analysis.HintedSettings(b.subject().Engine), ", ")+").")
		b.para(b.loadWords())
		return
	}
	b.para(hintCounts(hints) + b.loadWords())
	tuning.Sort(hints)
	table(b, []typeset.Column{
		{Title: "", Max: 60}, {Title: "Setting, what it is held against", Flex: 1.1}, {Title: "Measured", Flex: 1}, {Title: "Suggestion", Flex: 1.2},
	}, hints, func(_ int, h tuning.Hint) []typeset.Cell {
		suggestion := typeset.Cell{Text: h.Suggestion, Style: cellStrong, Sub: h.Source.Name, SubStyle: cellMuted}
		switch h.State {
		case tuning.Fits:
			suggestion.Text, suggestion.Style = "leave it", cellMuted
		case tuning.Unknown:
			suggestion.Style = cellMuted
		}
		return []typeset.Cell{hintState(h.State), {Text: h.Setting, Style: codeStyle, Sub: h.Against, SubStyle: cellMuted}, text(shorten(h.Measured, 200)), suggestion}
	})
	b.sources(hints)
	b.small("A hint is only as good as its inputs. It is no check and costs no points. It assumes that the host runs this instance alone. " +
		"Try one change at a time, and compare the figures of the next window. Slow queries are not part of this.")
}

func hintState(state string) typeset.Cell {
	switch state {
	case tuning.Change:
		return typeset.Cell{Text: "change", Style: cellStrong, Mark: severityColor[analysis.Medium]}
	case tuning.Fits:
		return typeset.Cell{Text: "fits", Mark: good}
	}
	return typeset.Cell{Text: "not judged", Mark: caution}
}

// hintCounts says what there is to do.
func hintCounts(hints []tuning.Hint) string {
	n := map[string]int{}
	for _, h := range hints {
		n[h.State]++
	}
	return count(len(hints), "hint", "hints") + ": " + shares([]share{
		{n[tuning.Change], "to change"}, {n[tuning.Fits], "that " + verb(n[tuning.Fits], "fits", "fit")}, {n[tuning.Unknown], "that cannot be judged"},
	}) + ". "
}

// loadWords says with what the settings are compared.
func (b *builder) loadWords() (words string) {
	t := b.doc.Tuning
	for _, m := range t.Machines {
		words += machineWords(m)
	}
	if len(t.Machines) == 0 {
		words += "No agent reported the size of the host in the last three days. "
	}
	if w := t.Waits; w != nil {
		words += "In the " + number(w.Hours) + " of " + count(w.Of, "hour", "hours") + " of the window with a sample, on average " + decimals(w.IO) + " sessions waited for I/O at once, " +
			decimals(w.Locks) + " for locks, " + decimals(w.Latches) + " for lightweight locks."
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
	return "Host " + shorten(m.Host, 80) + " (" + minute(m.At) + "): " + memory + ", " + cpus + ". "
}

// sources lists the pages that hints stand on, to click.
func (b *builder) sources(hints []tuning.Hint) {
	spans := []typeset.Span{{Text: "Sources: ", Style: smallStyle}}
	seen := map[string]bool{}
	for _, h := range hints {
		if seen[h.Source.Address] {
			continue
		}
		if len(seen) > 0 {
			spans = append(spans, typeset.Span{Text: "; ", Style: smallStyle})
		}
		seen[h.Source.Address] = true
		spans = append(spans, typeset.Span{Text: h.Source.Name, Style: linked(smallStyle, h.Source.Address)})
	}
	b.d.Paragraph(0, 1.4, spans...)
	b.d.Y += 4
}
