package scorecard

import (
	"strings"
	"time"

	"muster/domain/alert"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/pdf/sections"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/analysis/window"
)

// Alerts prints the alert history of the window.
func Alerts(b *blocks.Builder) {
	s, ok := window.Alerts(b.Doc)
	if !ok {
		b.State(blocks.StateNotAssessed, "Not assessed: the alerts of "+subjectName(b)+windowWords(b)+" were not gathered. The health score does not depend on alerts.")
		return
	}
	if s.All.Alerts == 0 {
		words := "No alert was active in this window" + windowWords(b) + "."
		if n := len(s.Muted); n > 0 {
			words += " " + blocks.Count(n, "muted alert is", "muted alerts are") + " listed apart and counted nowhere."
		}
		in := sections.Subject(b)
		b.Clean(in != nil && monitoredSince(b) == "", words)
		contradictions(b)
		b.Small(monitoredSince(b) + "An unmonitored instance raises no alerts. The health score does not depend on alerts.")
		mutedAlerts(b, s)
		return
	}
	b.Para(alertWords(b, s))
	contradictions(b)
	alertSeverities(b, s)
	alertChart(b, s)
	alertTitles(b, s)
	worstAlerts(b, s)
	mutedAlerts(b, s)
}

// contradictions says which alerts and settings do not fit the results of checks.
func contradictions(b *blocks.Builder) {
	if all := analysis.Contradictions(b.Doc); len(all) > 0 {
		b.State(blocks.StateNotAssessed, "Contradicted: "+strings.Join(all, "; ")+". The limits or the times of the sources differ, or one of them is wrong.")
	}
}

// alertWords is the section in a few sentences.
func alertWords(b *blocks.Builder, s window.AlertSummary) string {
	all, w := s.All, b.Doc.Window
	words := blocks.Count(all.Raised, "alert was", "alerts were") + " raised in the window and " + blocks.Number(all.Resolved) + " resolved; " +
		blocks.Count(all.Open, "was", "were") + " open at its end. " +
		"For " + length(all.Active) + " of " + length(w.To.Sub(w.From)) + " (" + blocks.Percent(all.Active.Seconds()/w.To.Sub(w.From).Seconds()) + ") at least one was open."
	if all.Resolved > 0 {
		words += " Half of those resolved took no longer than " + length(all.Median) + "."
	}
	if b.Doc.Database != nil {
		words += " Alerts of database " + blocks.Shorten(b.Doc.Database.Name, 80) + " and instance-wide ones count."
	}
	if s.Unlisted > 0 {
		words += " The figures cover " + blocks.Number(len(s.Alerts)+len(s.Muted)) + " alerts; " + blocks.Count(s.Unlisted, "further one is", "further ones are") + " not in this report, which takes the first " + blocks.Number(snapshot.MaxAlerts) + " by severity and time. The page Alerts lists them all."
	}
	return words
}

// monitoredSince says where the window begins before the instance was watched.
func monitoredSince(b *blocks.Builder) string {
	in := sections.Subject(b)
	if in == nil || in.CreatedAt.IsZero() || !in.CreatedAt.After(b.Doc.Window.From) {
		return ""
	}
	return subjectName(b) + " was registered on " + blocks.Minute(in.CreatedAt) + "; there is no earlier data. "
}

func alertSeverities(b *blocks.Builder, s window.AlertSummary) {
	blocks.Table(b, []typeset.Column{
		{Title: "Severity", Flex: 1}, {Title: "Raised", Flex: 1, Align: typeset.Right}, {Title: "Resolved", Flex: 1, Align: typeset.Right},
		{Title: "Open at the end", Flex: 1, Align: typeset.Right}, {Title: "Time in alert", Flex: 1, Align: typeset.Right},
		{Title: "Median to resolve", Flex: 1, Align: typeset.Right},
	}, s.Severity, func(_ int, c window.AlertCounts) []typeset.Cell {
		return []typeset.Cell{alertSeverity(c.Severity), blocks.Text(blocks.Number(c.Raised)), blocks.Text(blocks.Number(c.Resolved)), blocks.Text(blocks.Number(c.Open)),
			blocks.Strong(length(c.Active)), blocks.Text(medianOf(c))}
	})
}

// alertTitles folds alerts with the same title, so that recurring ones show.
func alertTitles(b *blocks.Builder, s window.AlertSummary) {
	b.Sub("Alerts by title")
	blocks.Table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Alert", Flex: 1}, {Title: "Alerts", Align: typeset.Right}, {Title: "Time in alert", Align: typeset.Right},
		{Title: "Median to resolve", Align: typeset.Right}, {Title: "Still open", Align: typeset.Right},
	}, s.Titles[:min(len(s.Titles), mostTitles)], func(_ int, c window.AlertCounts) []typeset.Cell {
		return []typeset.Cell{alertSeverity(c.Severity), blocks.Text(blocks.Shorten(c.Title, 160)), blocks.Text(blocks.Number(c.Alerts)), blocks.Strong(length(c.Active)),
			blocks.Text(medianOf(c)), blocks.Text(blocks.Number(c.Open))}
	})
	words := ""
	if rest := len(s.Titles) - mostTitles; rest > 0 {
		words = blocks.Count(rest, "further title", "further titles") + ": see the page Alerts. "
	}
	b.Small(words + "Time in alert: in which at least one of them was open, within the window. Median: from when an alert was raised to when it was resolved, of those resolved in the window.")
}

// mostTitles is how many titles are printed.
const mostTitles = 8

// mostAlerts is how many alerts are printed one by one.
const mostAlerts = 4

func worstAlerts(b *blocks.Builder, s window.AlertSummary) {
	b.Sub("Alerts, the worst and longest first")
	shown := s.Alerts[:min(len(s.Alerts), mostAlerts)]
	alertTable(b, shown)
	words := ""
	if rest := len(s.Alerts) - len(shown); rest > 0 {
		words = blocks.Count(rest, "further alert", "further alerts") + ": see the page Alerts. "
	}
	b.Small(words + "State: as of " + blocks.Instant(b.Doc.AsOf) + ". Open for: within the window.")
}

// mutedAlerts are out of every figure, and never out of sight.
func mutedAlerts(b *blocks.Builder, s window.AlertSummary) {
	if len(s.Muted) == 0 {
		return
	}
	b.Sub("Muted alerts")
	alertTable(b, s.Muted[:min(len(s.Muted), mostAlerts)])
	b.Small("Muted alerts count in no figure of this report.")
}

func alertTable(b *blocks.Builder, alerts []window.OpenAlert) {
	blocks.Table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Alert", Flex: 1}, {Title: "Database", Max: 90}, {Title: "Raised and resolved (UTC)", Max: 140},
		{Title: "Open for", Align: typeset.Right},
	}, alerts, func(_ int, a window.OpenAlert) []typeset.Cell {
		return []typeset.Cell{
			alertSeverity(a.Severity), {Text: blocks.Shorten(a.Title, 160), Sub: alertNote(a), SubStyle: blocks.CellMuted}, blocks.Where(blocks.Shorten(a.Database, 80)),
			{Text: shortMinute(a.CreatedAt), Sub: alertState(a), SubStyle: blocks.CellMuted}, blocks.Strong(length(a.Active)),
		}
	})
}

// alertNote is what else there is to say of an alert.
func alertNote(a window.OpenAlert) string {
	note := blocks.Shorten(a.Rule, 80)
	if a.Occurrences > 1 {
		note += sections.After(note, ", ") + "triggered " + blocks.Count(a.Occurrences, "time", "times")
	}
	return note
}

func medianOf(c window.AlertCounts) string {
	if c.Resolved == 0 {
		return "–"
	}
	return length(c.Median)
}

// alertColor is that of the finding which is as bad.
var alertColor = map[string]typeset.Color{
	string(alert.Critical): blocks.SeverityColor[analysis.Critical],
	string(alert.Warning):  blocks.SeverityColor[analysis.Medium],
	string(alert.Info):     blocks.SeverityColor[analysis.Low],
}

// alertWord is a severity as people write it.
var alertWord = map[string]string{
	string(alert.Critical): "Critical", string(alert.Warning): "Warning", string(alert.Info): "Info",
}

func alertSeverity(s string) typeset.Cell {
	word, ok := alertWord[s]
	if !ok {
		return typeset.Cell{Text: blocks.OrDash(blocks.Shorten(s, 20)), Style: blocks.CellStrong, Mark: blocks.Muted}
	}
	return typeset.Cell{Text: word, Style: blocks.CellStrong, Mark: alertColor[s]}
}

// alertState is the state of an alert, with the time of its end if it is over.
func alertState(a window.OpenAlert) string {
	state := blocks.OrDash(blocks.Shorten(a.State, 20))
	if a.State == string(alert.AutoResolvedState) {
		state = "Auto-resolved"
	}
	if a.ResolvedAt != nil {
		state += " " + shortMinute(*a.ResolvedAt)
	}
	return state
}

func shortMinute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// length is how long something took, to the minute.
func length(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 min"
	case d < time.Minute:
		return "< 1 min"
	}
	return alert.Length(d.Truncate(time.Minute))
}
