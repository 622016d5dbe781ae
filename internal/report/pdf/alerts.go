package pdf

import (
	"time"

	"muster/domain/alert"
	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// alerts prints the alert history of the window.
func (b *builder) alerts() {
	s, ok := analysis.Alerts(b.doc)
	if !ok {
		b.state(stateNotAssessed, "Not assessed: the alerts of "+b.subjectName()+b.windowWords()+" were not gathered. The health score does not depend on alerts.")
		return
	}
	if s.All.Alerts == 0 {
		words := "No alert was active in this window" + b.windowWords() + "."
		if n := len(s.Muted); n > 0 {
			words += " " + count(n, "muted alert is", "muted alerts are") + " listed apart and counted nowhere."
		}
		in := b.subject()
		b.clean(in != nil && b.monitoredSince() == "", words)
		b.small(b.monitoredSince() + "An unmonitored instance raises no alerts. The health score does not depend on alerts.")
		b.mutedAlerts(s)
		return
	}
	b.para(b.alertWords(s))
	b.alertSeverities(s)
	b.alertChart(s)
	b.alertTitles(s)
	b.worstAlerts(s)
	b.mutedAlerts(s)
}

// alertWords is the section in a few sentences.
func (b *builder) alertWords(s analysis.AlertSummary) string {
	all, w := s.All, b.doc.Window
	words := count(all.Raised, "alert was", "alerts were") + " raised in the window and " + number(all.Resolved) + " resolved; " +
		count(all.Open, "was", "were") + " open at its end. " +
		"For " + length(all.Active) + " of " + length(w.To.Sub(w.From)) + " (" + percent(all.Active.Seconds()/w.To.Sub(w.From).Seconds()) + ") at least one was open."
	if all.Resolved > 0 {
		words += " Half of those resolved took no longer than " + length(all.Median) + "."
	}
	if b.doc.Database != nil {
		words += " Alerts of database " + shorten(b.doc.Database.Name, 80) + " and instance-wide ones count."
	}
	if s.Unlisted > 0 {
		words += " The figures cover " + number(len(s.Alerts)+len(s.Muted)) + " alerts; " + count(s.Unlisted, "further one is", "further ones are") + " not in this report, which takes the first " + number(snapshot.MaxAlerts) + " by severity and time. The page Alerts lists them all."
	}
	return words
}

// monitoredSince says where the window begins before the instance was watched.
func (b *builder) monitoredSince() string {
	in := b.subject()
	if in == nil || in.CreatedAt.IsZero() || !in.CreatedAt.After(b.doc.Window.From) {
		return ""
	}
	return b.subjectName() + " was registered on " + minute(in.CreatedAt) + "; there is no earlier data. "
}

func (b *builder) alertSeverities(s analysis.AlertSummary) {
	table(b, []typeset.Column{
		{Title: "Severity", Flex: 1}, {Title: "Raised", Flex: 1, Align: typeset.Right}, {Title: "Resolved", Flex: 1, Align: typeset.Right},
		{Title: "Open at the end", Flex: 1, Align: typeset.Right}, {Title: "Time in alert", Flex: 1, Align: typeset.Right},
		{Title: "Median to resolve", Flex: 1, Align: typeset.Right},
	}, s.Severity, func(_ int, c analysis.AlertCounts) []typeset.Cell {
		return []typeset.Cell{alertSeverity(c.Severity), text(number(c.Raised)), text(number(c.Resolved)), text(number(c.Open)),
			strong(length(c.Active)), text(medianOf(c))}
	})
}

// alertTitles folds alerts with the same title, so that recurring ones show.
func (b *builder) alertTitles(s analysis.AlertSummary) {
	b.sub("Alerts by title")
	table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Alert", Flex: 1}, {Title: "Alerts", Align: typeset.Right}, {Title: "Time in alert", Align: typeset.Right},
		{Title: "Median to resolve", Align: typeset.Right}, {Title: "Still open", Align: typeset.Right},
	}, s.Titles, func(_ int, c analysis.AlertCounts) []typeset.Cell {
		return []typeset.Cell{alertSeverity(c.Severity), text(shorten(c.Title, 160)), text(number(c.Alerts)), strong(length(c.Active)),
			text(medianOf(c)), text(number(c.Open))}
	})
	b.small("Time in alert: in which at least one of them was open, within the window. Median: from when an alert was raised to when it was resolved, of those resolved in the window.")
}

func (b *builder) worstAlerts(s analysis.AlertSummary) {
	b.sub("Alerts, the worst and longest first")
	b.alertTable(s.Alerts)
	b.small("State: as of " + instant(b.doc.AsOf) + ". Open for: within the window.")
}

// mutedAlerts are out of every figure, and never out of sight.
func (b *builder) mutedAlerts(s analysis.AlertSummary) {
	if len(s.Muted) == 0 {
		return
	}
	b.sub("Muted alerts")
	b.alertTable(s.Muted)
	b.small("Muted alerts count in no figure of this report.")
}

func (b *builder) alertTable(alerts []analysis.OpenAlert) {
	table(b, []typeset.Column{
		{Title: "Severity"}, {Title: "Alert", Flex: 1}, {Title: "Database", Max: 90}, {Title: "Raised and resolved (UTC)", Max: 140},
		{Title: "Open for", Align: typeset.Right},
	}, alerts, func(_ int, a analysis.OpenAlert) []typeset.Cell {
		return []typeset.Cell{
			alertSeverity(a.Severity), {Text: shorten(a.Title, 160), Sub: alertNote(a), SubStyle: cellMuted}, where(shorten(a.Database, 80)),
			{Text: shortMinute(a.CreatedAt), Sub: alertState(a), SubStyle: cellMuted}, strong(length(a.Active)),
		}
	})
}

// alertNote is what else there is to say of an alert.
func alertNote(a analysis.OpenAlert) string {
	note := shorten(a.Rule, 80)
	if a.Occurrences > 1 {
		note += after(note, ", ") + "triggered " + count(a.Occurrences, "time", "times")
	}
	return note
}

func medianOf(c analysis.AlertCounts) string {
	if c.Resolved == 0 {
		return "–"
	}
	return length(c.Median)
}

// alertColor is that of the finding which is as bad.
var alertColor = map[string]typeset.Color{
	string(alert.Critical): severityColor[analysis.Critical],
	string(alert.Warning):  severityColor[analysis.Medium],
	string(alert.Info):     severityColor[analysis.Low],
}

// alertWord is a severity as people write it.
var alertWord = map[string]string{
	string(alert.Critical): "Critical", string(alert.Warning): "Warning", string(alert.Info): "Info",
}

func alertSeverity(s string) typeset.Cell {
	word, ok := alertWord[s]
	if !ok {
		return typeset.Cell{Text: orDash(shorten(s, 20)), Style: cellStrong, Mark: muted}
	}
	return typeset.Cell{Text: word, Style: cellStrong, Mark: alertColor[s]}
}

// alertState is the state of an alert, with the time of its end if it is over.
func alertState(a analysis.OpenAlert) string {
	state := orDash(shorten(a.State, 20))
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
