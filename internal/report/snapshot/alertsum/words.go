package alertsum

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/domain/alert"
	"muster/domain/report"
	"muster/internal/engine/tuning"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/sheet"
)

const (
	minute = "2 Jan 15:04"
	dayOf  = "2 Jan"
)

// Sheet is the summary of a document.
func Sheet(doc snapshot.Document) sheet.Sheet {
	b := BalanceOf(doc)
	s := sheet.Sheet{State: state(doc, b), Figures: figures(doc, b), Bars: bars(b)}
	s.Lead, s.Rest = lead(doc, b)
	s.Sections = []sheet.Section{
		balanceSection(b), timesSection(doc), noisiestSection(doc), mutedSection(doc), toldSection(doc), stoodSection(doc), methodSection(doc),
	}
	return s
}

// open are the records that are open at the window's end: the worst first, and of those the oldest.
func open(doc snapshot.Document) (all []*snapshot.AlertRecord) {
	if doc.AlertRecords == nil || doc.Window == nil {
		return nil
	}
	for i := range doc.AlertRecords.Listed {
		if a := &doc.AlertRecords.Listed[i]; a.OpenAt(doc.Window.To) {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b *snapshot.AlertRecord) int { return rank(b.Severity) - rank(a.Severity) })
	return all
}

func rank(severity string) int { return slices.Index(alert.Severities(), alert.Severity(severity)) }

// state is that of the verdict: the worst that is open.
func state(doc snapshot.Document, b Balance) string {
	all := open(doc)
	switch {
	case doc.AlertRecords == nil || len(doc.AlertRecords.Servers) == 0 && b.All == (snapshot.AlertSum{}):
		return "Nothing"
	case len(all) == 0:
		return "Clean"
	}
	return map[string]string{string(alert.Critical): "Critical", string(alert.Warning): "High", string(alert.Info): "Low"}[all[0].Severity]
}

// lead is the one sentence, and what else matters.
func lead(doc snapshot.Document, b Balance) (lead, rest string) {
	all := open(doc)
	critical, unseen := 0, 0
	for _, a := range all {
		if a.Severity == string(alert.Critical) {
			critical++
		}
		if a.AcknowledgedAt == nil {
			unseen++
		}
	}
	switch {
	case doc.AlertRecords == nil || len(doc.AlertRecords.Servers) == 0 && b.All == (snapshot.AlertSum{}):
		return "No server is in scope, so there is no alert to sum up.", ""
	case len(all) == 0:
		lead = "No alert is open."
	default:
		lead = fmt.Sprintf("%s %s open, %s critical; nobody has acknowledged %s.", tuning.Plural(len(all), "alert", "alerts"),
			one(len(all), "is", "are"), numberOrNone(critical), numberOrNone(unseen))
		if unseen == 0 {
			lead = fmt.Sprintf("%s %s open, %s critical; all are acknowledged.", tuning.Plural(len(all), "alert", "alerts"),
				one(len(all), "is", "are"), numberOrNone(critical))
		}
		worst := all[0]
		rest = fmt.Sprintf("%s on %s has been open since %s.", worst.Title, serverNames(doc)[worst.InstanceID], since(worst.RaisedAt, *doc.Window))
	}
	if b.All.Raised > 0 && len(b.Rules) > 0 {
		top := topRules(b, 5)
		rest = strings.TrimSpace(rest + " " + fmt.Sprintf("%s raised %s of the %s.", tuning.Plural(len(top), "rule", "rules"),
			tuning.Grouped(raised(top)), tuning.Plural(b.All.Raised, "alert", "alerts")))
	}
	return lead, rest
}

// topRules are the rules that raised most alerts in the window.
func topRules(b Balance, most int) []Row {
	top := slices.Clone(b.Rules)
	slices.SortStableFunc(top, func(x, y Row) int { return y.Raised - x.Raised })
	top = slices.DeleteFunc(top[:min(most, len(top))], func(r Row) bool { return r.Raised == 0 || r.Name == unlisted })
	return top
}

func raised(rows []Row) (n int) {
	for _, r := range rows {
		n += r.Raised
	}
	return n
}

// since is a time, with its year where the window is in another one.
func since(at time.Time, w snapshot.Window) string {
	if at.UTC().Year() != w.To.UTC().Year() {
		return at.UTC().Format("2 Jan 2006")
	}
	return at.UTC().Format(minute)
}

func one(n int, single, several string) string {
	if n == 1 {
		return single
	}
	return several
}

func numberOrNone(n int) string {
	if n == 0 {
		return "none"
	}
	return tuning.Grouped(n)
}

// figures are the balance as a sum.
func figures(doc snapshot.Document, b Balance) []sheet.Figure {
	var from, to, each string
	if w := doc.Window; w != nil {
		from, to = w.From.UTC().Format(minute), w.To.UTC().Format(minute)
		each = fmt.Sprintf("%.1f a day", float64(b.All.Raised)/(w.To.Sub(w.From).Hours()/24))
	}
	return []sheet.Figure{
		{Name: "Open at start", Value: tuning.Grouped(b.All.Start), Note: from},
		{Before: "+", Name: "Raised", Value: tuning.Grouped(b.All.Raised), Note: each, Tone: sheet.Warning},
		{Before: "−", Name: "Resolved", Value: tuning.Grouped(b.All.Resolved), Note: tuning.Grouped(b.ByItself) + " by themselves", Tone: sheet.Good},
		{Before: "=", Name: "Open at end", Value: tuning.Grouped(b.All.End), Note: to},
	}
}

func bars(b Balance) *sheet.Bars {
	if len(b.Days) == 0 {
		return nil
	}
	out := &sheet.Bars{Up: "raised", Down: "resolved", Line: "open at the day's end"}
	busiest := b.Days[0]
	for _, d := range b.Days {
		out.Days = append(out.Days, sheet.Day{Name: d.Start.UTC().Format(dayOf), Up: d.Raised, Down: d.Resolved, Level: d.Open})
		if d.Raised > busiest.Raised {
			busiest = d
		}
	}
	out.Note = fmt.Sprintf("Busiest day (UTC): %s with %s raised.", busiest.Start.UTC().Format(dayOf), tuning.Grouped(busiest.Raised))
	return out
}

// mostRows is how many rows a table of the balance has before the rest becomes one.
const mostRows = 12

func balanceSection(b Balance) sheet.Section {
	total := Row{"All", b.All}
	severities := append(slices.Clone(b.Severities), total)
	return sheet.Section{ID: string(report.SectionBalance), Title: "Balance", Parts: []sheet.Part{
		{Title: "By severity", Table: balanceTable("Balance by severity", "Severity", severities)},
		{Title: "By server", Table: balanceTable("Balance by server", "Server", append(cut(b.Servers), total))},
		{Title: "By rule", Table: balanceTable("Balance by rule", "Rule", append(cut(b.Rules), total)),
			Note: "Every row is a sum: open at start + raised − resolved = open at end. alerts.csv has every alert."},
	}}
}

// cut keeps the first rows and adds up the others.
func cut(all []Row) []Row {
	if len(all) <= mostRows {
		return slices.Clone(all)
	}
	rest := Row{Name: tuning.Grouped(len(all)-mostRows) + " more in alerts.csv"}
	for _, r := range all[mostRows:] {
		rest.Add(r.AlertSum)
	}
	return append(slices.Clone(all[:mostRows]), rest)
}

func balanceTable(name, first string, rows []Row) *sheet.Table {
	t := &sheet.Table{Name: name, Columns: []sheet.Column{
		{Name: first, Weight: 1}, {Name: "Start", Right: true}, {Name: "Raised", Right: true}, {Name: "Resolved", Right: true}, {Name: "End", Right: true},
	}}
	for _, r := range rows {
		t.Rows = append(t.Rows, sheet.Row{Total: r.Name == "All", Cells: []sheet.Cell{
			{Text: severityName(r.Name), Tone: severityTone(r.Name), Strong: r.Name == "All" || severityTone(r.Name) != sheet.Plain},
			{Text: tuning.Grouped(r.Start)}, {Text: "+ " + tuning.Grouped(r.Raised)}, {Text: "− " + tuning.Grouped(r.Resolved)},
			{Text: "= " + tuning.Grouped(r.End), Strong: true},
		}})
	}
	return t
}

func severityName(s string) string {
	if severityTone(s) == sheet.Plain {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func severityTone(s string) sheet.Tone {
	return map[string]sheet.Tone{string(alert.Critical): sheet.Critical, string(alert.Warning): sheet.Warning, string(alert.Info): sheet.Info}[s]
}

// mostStanding is how many open alerts are printed.
const mostStanding = 40

func stoodSection(doc snapshot.Document) sheet.Section {
	s := sheet.Section{ID: string(report.SectionStood), Title: "As it stood at the end"}
	all := open(doc)
	if len(all) == 0 {
		s.Parts = []sheet.Part{{Words: "No alert was open at the end of the window.", Empty: true}}
		return s
	}
	names := serverNames(doc)
	t := &sheet.Table{Name: "Open at the end", Columns: []sheet.Column{
		{Name: "Severity"}, {Name: "Alert", Weight: 2}, {Name: "Server", Weight: 1}, {Name: "Open for", Right: true}, {Name: "Acknowledged"},
	}}
	for _, a := range all[:min(len(all), mostStanding)] {
		seen := sheet.Cell{Text: "no", Tone: sheet.Caution}
		if a.AcknowledgedAt != nil {
			seen = sheet.Cell{Text: since(*a.AcknowledgedAt, *doc.Window)}
		}
		t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
			{Text: severityName(a.Severity), Tone: severityTone(a.Severity), Strong: true},
			{Text: a.Title}, {Text: names[a.InstanceID]},
			{Text: alert.Length(doc.Window.To.Sub(a.RaisedAt))}, seen,
		}})
	}
	part := sheet.Part{Table: t}
	if more := len(all) - len(t.Rows); more > 0 {
		part.Note = tuning.Grouped(more) + " more in alerts.csv."
	}
	s.Parts = []sheet.Part{part}
	return s
}

func methodSection(doc snapshot.Document) sheet.Section {
	words := []string{
		"An alert is raised at the time that its sender names, and not later than Muster recorded it. It is resolved not earlier than it was raised, " +
			"whatever the sender's clock said.",
		"All figures are those of the log at the window's end. Later records change nothing. A later report of the same window prints the same figures; " +
			"who was told is known for 90 days.",
		"Median and 90th percentile are estimates by Kaplan and Meier over the alerts that were raised in the window. Where fewer than that share were acknowledged or resolved, " +
			"the time is the longest wait that was seen: at least that long.",
		"An alert belongs to its own server. Alerts about several servers count once, at the first of them in scope. Days are UTC.",
	}
	if r := doc.AlertRecords; r != nil && r.Imported > 0 {
		words = append(words, fmt.Sprintf("%s recorded more than an hour after the time of the alert: history that a sender sent later.",
			tuning.Plural(r.Imported, "alert was", "alerts were")))
	}
	s := sheet.Section{ID: string(report.SectionAlertMethod), Title: "Method"}
	for _, w := range words {
		s.Parts = append(s.Parts, sheet.Part{Words: w})
	}
	return s
}
