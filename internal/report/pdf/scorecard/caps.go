package scorecard

import (
	"strconv"
	"strings"

	"muster/internal/measurements/forecast"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/analysis/window"
)

// Columns of the caps, from the left edge of the text.
const (
	mostAt    = 124.0
	stateAt   = 180.0
	becauseAt = 248.0
)

// capTable says on page 1 what can hold the score down, and whether it does.
func capTable(b *blocks.Builder, s analysis.Score) {
	if !s.Known {
		return
	}
	d := b.Paper
	b.PartTitle("Score caps", "without caps: "+blocks.Number(s.Uncapped))
	d.Grouped(typeset.Grid, typeset.GridCell, func() { capRows(b, s) })
	d.Page().Rule(d.Left(), d.Y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	d.Y += blocks.GapAfter + 4
}

// capRows draws the rows of the caps.
func capRows(b *blocks.Builder, s analysis.Score) {
	b.Heads([]blocks.Head{
		{At: 0, Align: typeset.Left, Words: "Cap"}, {At: mostAt, Align: typeset.Left, Words: "Limit"},
		{At: stateAt, Align: typeset.Left, Words: "State"}, {At: becauseAt, Align: typeset.Left, Words: "Reason"},
	})
	for _, c := range s.Caps {
		b.Paper.Grouped(typeset.GridRow, typeset.GridCell, func() { capRow(b, c) })
	}
}

// capRow draws one cap.
func capRow(b *blocks.Builder, c analysis.Cap) {
	d := b.Paper
	page, left, y := d.Page(), d.Left(), d.Y
	page.Rule(left, y, d.TextWidth(), 0, 0.4, blocks.Hairline)
	page.Text(left, y+9, blocks.RowStrong, typeset.Left, c.Name)
	page.Text(left+mostAt, y+9, blocks.RowStyle, typeset.Left, "at most "+blocks.Number(c.Most))
	state, style := "does not apply", blocks.RowMuted
	switch c.State {
	case analysis.CapNot:
	case analysis.CapApplies:
		state, style = "applies", blocks.Colored(blocks.RowStrong, blocks.OverdueStyle.Color)
	case analysis.CapUnknown:
		state, style = "not known", blocks.Colored(blocks.RowStrong, blocks.Caution)
	}
	page.Text(left+stateAt, y+9, style, typeset.Left, state)
	page.Text(left+becauseAt, y+9, blocks.RowStyle, typeset.Left, b.Fit(c.Because, blocks.RowStyle, d.TextWidth()-becauseAt))
	d.Y += blocks.StandingRow
}

// scale says how a score comes about.
func scale() string {
	var domains, grades []string
	for _, d := range analysis.Domains {
		domains = append(domains, d.Name+" "+strconv.FormatFloat(d.Weight, 'f', 0, 64)+"%")
	}
	for _, g := range analysis.Grades[:len(analysis.Grades)-1] {
		grades = append(grades, g.Letter+" from "+strconv.Itoa(g.From))
	}
	return "A domain's score is the share of its checks' weight that does not fail. A failed check counts half of its weight, and the other half by the share of its objects that fail. " +
		"Weights: " + sections.Weights() + ". The score is the mean of the domains by weight (" + strings.Join(domains, ", ") + "), held down by the caps on page 1. " +
		"Grades: " + strings.Join(grades, ", ") + ", F below."
}

// alertsFigure counts the open alerts.
func alertsFigure(b *blocks.Builder) blocks.Figure {
	in := sections.Subject(b)
	f := blocks.Figure{Value: "–", Label: "OPEN ALERTS", Note: "not known", Color: blocks.Muted}
	if in == nil || in.OpenAlerts == nil {
		return f
	}
	open := in.OpenAlerts
	f.Value, f.Label, f.Note, f.Color = blocks.Number(open.Open), blocks.Verb(open.Open, "OPEN ALERT", "OPEN ALERTS"), "none critical", blocks.Accent
	if open.Critical > 0 {
		f.Note, f.Color = blocks.Number(open.Critical)+" critical", blocks.SeverityColor[analysis.Critical]
	}
	return f
}

// highVolume is the level in percent from which a volume is worth a warning color.
const highVolume = 90

// volumeFigure is the level of the fullest volume, as measured.
func volumeFigure(b *blocks.Builder) blocks.Figure {
	s, ok := window.Utilization(b.Doc)
	if !ok || s.Full.Until.IsZero() {
		return blocks.Figure{Value: "–", Label: "FULLEST VOLUME", Note: "not measured", Color: blocks.Muted}
	}
	f := blocks.Figure{Value: points(s.Full.Level), Label: "FULLEST VOLUME", Note: "no forecast", Color: blocks.Accent}
	switch s.Full.Reason {
	case "":
		f.Note = "full in " + blocks.Count(wholeDays(s.Full), "day", "days")
		if s.Full.Full() {
			f.Note = "full"
		}
	case forecast.NotGrowing, forecast.Far:
		f.Note = "not full within 2 years"
	case forecast.NotMeasured, forecast.NoLimit, forecast.Stale, forecast.TooShort, forecast.SawTooth, forecast.Step, forecast.Noise:
	}
	if s.Full.Level >= highVolume || s.Full.Soon() {
		f.Color = blocks.SeverityColor[analysis.High]
	}
	return f
}
