package daysheet

import (
	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
	"muster/internal/report/snapshot/sheet"
)

// Sheet is the sheet of a document; without a day it says that nothing is known.
func Sheet(doc snapshot.Document) sheet.Sheet {
	if doc.Day == nil {
		return sheet.Sheet{State: report.StateUnknown, Lead: "Nothing is known of this day."}
	}
	p := day.PageOf(*doc.Day)
	s := sheet.Sheet{State: p.Level.State(), Lead: p.Headline, Rest: p.Rest}
	if p.First != nil {
		s.First = "First: " + p.First.Text + " " + p.First.Note
	}
	for _, section := range p.Sections {
		for _, f := range section.Figures {
			s.Figures = append(s.Figures, figure(f))
		}
		s.Sections = append(s.Sections, sheet.Section{ID: section.ID, Title: section.Title, Parts: []sheet.Part{part(section)}})
	}
	return s
}

// figure divides the sign of a sum from its number.
func figure(f day.Figure) sheet.Figure {
	out := sheet.Figure{Name: f.Label, Value: f.Value, Note: f.Note, Tone: tone(f.Level)}
	for _, sign := range []string{"+ ", "− ", "= "} {
		if rest, ok := cut(f.Value, sign); ok {
			out.Before, out.Value = sign[:len(sign)-1], rest
		}
	}
	return out
}

func cut(text, prefix string) (rest string, ok bool) {
	if len(text) < len(prefix) || text[:len(prefix)] != prefix {
		return text, false
	}
	return text[len(prefix):], true
}

// part is a section as a table, or the sum of its figures in words.
func part(s day.Section) sheet.Part {
	out := sheet.Part{Note: s.Aside}
	if len(s.Rows) == 0 {
		out.Words, out.Empty = "No alert is open, and the sum is above.", true
		return out
	}
	servers := s.ID == "trouble" && s.Rows[0].Since != ""
	table := &sheet.Table{Name: s.Title, Columns: []sheet.Column{{Name: "Item", Weight: 1}, {Name: "State", Weight: 4}}}
	if servers {
		table.Columns = []sheet.Column{{Name: "Server", Weight: 1}, {Name: "What it needs most", Weight: 4}, {Name: "Alerts, change", Right: true}, {Name: "Since", Right: true}}
	}
	for _, r := range s.Rows {
		cells := []sheet.Cell{{Text: r.Label, Strong: true, Tone: tone(r.Level)}, {Text: r.Text, Note: r.Note}}
		if servers {
			cells[0].Note = string(r.Level)
			cells = append(cells, sheet.Cell{Text: r.Alerts}, sheet.Cell{Text: r.Since})
		}
		table.Rows = append(table.Rows, sheet.Row{Cells: cells})
	}
	out.Table = table
	return out
}

func tone(l day.Level) sheet.Tone {
	switch l {
	case day.Critical:
		return sheet.Critical
	case day.High:
		return sheet.Warning
	case day.Medium:
		return sheet.Info
	case day.Unknown:
		return sheet.Caution
	case day.Quiet:
		return sheet.Good
	case day.Nothing:
	}
	return sheet.Plain
}
