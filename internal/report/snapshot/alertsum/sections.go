package alertsum

import (
	"cmp"
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

func timesSection(doc snapshot.Document) sheet.Section {
	ack, resolve := TimesToAcknowledge(doc, ""), TimesToResolve(doc, "")
	return sheet.Section{ID: string(report.SectionAlertTimes), Title: "Time to acknowledge and resolve", Parts: []sheet.Part{
		{Title: "Time to acknowledge", Aside: "median and 90th percentile", Spans: spansOf(doc, "Time to acknowledge", TimesToAcknowledge),
			Note: fmt.Sprintf("Of the alerts raised in the window: %s acknowledged, %s over without it, %s still waiting. Those without it count with the time that they waited.",
				tuning.Grouped(ack.Happened), tuning.Grouped(ack.Over), tuning.Grouped(ack.Censored-ack.Over))},
		{Title: "Time to resolve", Aside: "median and 90th percentile", Spans: spansOf(doc, "Time to resolve", TimesToResolve),
			Note: fmt.Sprintf("Of the alerts raised in the window: %s resolved. %s still open, and count with their age at its end.",
				tuning.Grouped(resolve.Happened), tuning.Plural(resolve.Censored, "is", "are"))},
	}}
}

func spansOf(doc snapshot.Document, name string, times func(snapshot.Document, string) Times) *sheet.Spans {
	s := &sheet.Spans{Name: name}
	for _, severity := range slices.Backward(alert.Severities()) {
		t := times(doc, string(severity))
		row := sheet.Span{Name: severityName(string(severity)), Tone: severityTone(string(severity)), MedianText: "–", NinetyText: "–",
			Note: tuning.Grouped(t.Happened) + " known, " + tuning.Grouped(t.Censored) + " waiting or over"}
		if t.Happened+t.Censored > 0 {
			row.Median, row.MedianText = shown(t.Median)
			row.Ninetieth, row.NinetyText = shown(t.Ninetieth)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

func shown(d Duration) (seconds *float64, text string) {
	n := d.Value.Seconds()
	text = alert.Length(d.Value)
	if d.AtLeast {
		text = "at least " + text
	}
	return &n, text
}

// mostNoisy is how many rules and servers are printed.
const mostNoisy = 10

func noisiestSection(doc snapshot.Document) sheet.Section {
	s := sheet.Section{ID: string(report.SectionNoisiest), Title: "Noisiest rules and servers"}
	rules, servers := Rules(doc), Servers(doc)
	if len(rules) == 0 {
		s.Parts = []sheet.Part{{Words: "No alert was raised in the window.", Empty: true}}
		return s
	}
	s.Parts = []sheet.Part{
		{Title: "Rules", Aside: shareOf(rules, "rules"), Table: noiseTable("Noisiest rules", "Rule", "server", "servers", rules)},
		{Title: "Servers", Aside: shareOf(servers, "servers"), Table: noiseTable("Noisiest servers", "Server", "rule", "rules", servers),
			Note: "Flapping: raised again within an hour of its end on the same server, or fired again while it was open. Never acknowledged: open for at least 15 minutes, and nobody acknowledged it by the end of the window."},
	}
	return s
}

func shareOf(all []Noise, of string) string {
	top, total := 0, 0
	for i, n := range all {
		total += n.Raised
		if i < mostNoisy {
			top += n.Raised
		}
	}
	return fmt.Sprintf("%s of %s %s, %s of %s", tuning.Grouped(min(mostNoisy, len(all))), tuning.Grouped(len(all)), of, tuning.Grouped(top), tuning.Plural(total, "alert", "alerts"))
}

func noiseTable(name, first, other, others string, all []Noise) *sheet.Table {
	t := &sheet.Table{Name: name, Columns: []sheet.Column{
		{Name: first, Weight: 1}, {Name: "Raised", Right: true}, {Name: "Ended by itself", Right: true}, {Name: "Acknowledged", Right: true},
		{Name: "Never acknowledged", Right: true}, {Name: "Flapping"},
	}}
	for _, n := range all[:min(mostNoisy, len(all))] {
		flapping, never := sheet.Cell{}, sheet.Cell{Text: tuning.Grouped(n.Never)}
		if n.Reopened > 0 {
			flapping = sheet.Cell{Text: tuning.Grouped(n.Reopened) + " re-opened", Tone: sheet.Warning}
		}
		if n.Never > 0 {
			never.Tone = sheet.Caution
		}
		t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
			{Text: n.Name, Strong: true, Note: tuning.Plural(n.Others, other, others)},
			{Text: tuning.Grouped(n.Raised)}, {Text: tuning.Grouped(n.ByItself)}, {Text: tuning.Grouped(n.Acknowledged)}, never, flapping,
		}})
	}
	return t
}

// mostMuted is how many mutes and exceptions are printed.
const mostMuted = 30

func mutedSection(doc snapshot.Document) sheet.Section {
	s := sheet.Section{ID: string(report.SectionMuted), Title: "Muted and accepted, by whom"}
	if doc.AlertRecords == nil || doc.Window == nil {
		return s
	}
	mutes := muteRows(doc)
	if len(mutes) == 0 {
		s.Parts = append(s.Parts, sheet.Part{Words: "No alert was muted in the window, and none was raised in a maintenance window.", Empty: true})
	} else {
		s.Parts = append(s.Parts, sheet.Part{Title: "Muted alerts", Table: &sheet.Table{Name: "Muted alerts", Columns: []sheet.Column{
			{Name: "By"}, {Name: "What", Weight: 1}, {Name: "From"}, {Name: "Until"}, {Name: "Alerts", Right: true},
		}, Rows: mutes[:min(mostMuted, len(mutes))]}, Note: rest(len(mutes))})
	}
	var accepted []sheet.Row
	names := serverNames(doc)
	for _, x := range doc.AlertRecords.Accepted {
		where, until := names[x.InstanceID], sheet.Cell{Text: since(x.Until, *doc.Window)}
		if where == noServer {
			where = "all servers"
		}
		if x.RevokedAt != nil {
			until = sheet.Cell{Text: "revoked " + since(*x.RevokedAt, *doc.Window), Tone: sheet.Caution}
		}
		accepted = append(accepted, sheet.Row{Cells: []sheet.Cell{{Text: x.GrantedBy.Shown(), Strong: true}, {Text: x.CheckID + " on " + where}, {Text: since(x.GrantedAt, *doc.Window)}, until}})
	}
	if len(accepted) == 0 {
		s.Parts = append(s.Parts, sheet.Part{Words: "No exception to a finding was in force in the window.", Empty: true})
		return s
	}
	s.Parts = append(s.Parts, sheet.Part{Title: "Accepted findings", Table: &sheet.Table{Name: "Accepted findings", Columns: []sheet.Column{
		{Name: "By"}, {Name: "What", Weight: 1}, {Name: "Granted"}, {Name: "Until"},
	}, Rows: accepted[:min(mostMuted, len(accepted))]}, Note: rest(len(accepted))})
	return s
}

func rest(all int) string {
	if all <= mostMuted {
		return ""
	}
	return tuning.Grouped(all-mostMuted) + " more are not printed."
}

// muted is what somebody kept quiet in one way: a rule's alerts on a server, or what was raised in a maintenance window.
type muted struct {
	by, what string
	from     time.Time
	until    string
	alerts   int
}

func muteRows(doc snapshot.Document) (rows []sheet.Row) {
	names, all := serverNames(doc), map[[3]string]*muted{}
	note := func(by, what string, from time.Time, until string) {
		key := [3]string{by, what, until}
		m := all[key]
		if m == nil {
			m = &muted{by: by, what: what, from: from, until: until}
			all[key] = m
		}
		m.alerts++
		if from.Before(m.from) {
			m.from = from
		}
	}
	for i := range doc.AlertRecords.Listed {
		a := &doc.AlertRecords.Listed[i]
		for _, m := range a.Mutes {
			by := "a program"
			if m.By != nil {
				by = m.By.Shown()
			}
			note(by, a.Rule+", "+names[a.InstanceID], m.From, untilOf(m, *doc.Window))
		}
		if m := a.Maintenance; m != nil && doc.Window.Within(&a.RaisedAt) {
			by := "–"
			if m.By != nil {
				by = m.By.Shown()
			}
			note(by, "Maintenance window", a.RaisedAt, since(m.Until, *doc.Window))
		}
	}
	sorted := make([]*muted, 0, len(all))
	for _, m := range all {
		sorted = append(sorted, m)
	}
	slices.SortFunc(sorted, func(a, b *muted) int {
		return cmp.Or(cmp.Compare(b.alerts, a.alerts), a.from.Compare(b.from), strings.Compare(a.what, b.what), strings.Compare(a.by, b.by), strings.Compare(a.until, b.until))
	})
	for _, m := range sorted {
		rows = append(rows, sheet.Row{Cells: []sheet.Cell{
			{Text: m.by, Strong: true}, {Text: m.what}, {Text: since(m.from, *doc.Window)}, {Text: m.until}, {Text: tuning.Grouped(m.alerts)},
		}})
	}
	return rows
}

// untilOf is when a mute ended or ends.
func untilOf(m snapshot.AlertMute, w snapshot.Window) string {
	switch {
	case m.Ended != nil && (m.Until == nil || m.Ended.Before(*m.Until)):
		return "ended " + since(*m.Ended, w)
	case m.Until != nil:
		return since(*m.Until, w)
	}
	return "for good"
}

// Told counts the alerts that were raised in the window by what became of their notifications.
type Told struct {
	ByOutcome map[string]int // snapshot.AlertTold and its neighbors
	Alone     int            // of AlertTold
	Late      int            // of AlertTold: more than LateAfter after the raise
	Critical  int            // of those that nobody was told of: critical ones
}

// LateAfter is how long after its raise an alert is told of late.
const LateAfter = 5 * time.Minute

// ToldOf counts them.
func ToldOf(doc snapshot.Document) Told {
	t := Told{ByOutcome: map[string]int{}}
	if doc.AlertRecords == nil || doc.Window == nil {
		return t
	}
	for i := range doc.AlertRecords.Listed {
		a := &doc.AlertRecords.Listed[i]
		if !doc.Window.Within(&a.RaisedAt) {
			continue
		}
		t.ByOutcome[a.Told]++
		if a.Told != snapshot.AlertTold {
			if a.Severity == string(alert.Critical) && a.Told != snapshot.AlertNotKept {
				t.Critical++
			}
			continue
		}
		if !a.Grouped {
			t.Alone++
		}
		if a.ToldAt != nil && a.ToldAt.Sub(a.RaisedAt) > LateAfter {
			t.Late++
		}
	}
	return t
}

func toldSection(doc snapshot.Document) sheet.Section {
	s := sheet.Section{ID: string(report.SectionTold), Title: "Told and not told"}
	t := ToldOf(doc)
	told := t.ByOutcome[snapshot.AlertTold]
	var rows []sheet.Row
	row := func(n int, tone sheet.Tone, words string) {
		if n > 0 {
			rows = append(rows, sheet.Row{Cells: []sheet.Cell{{Text: tuning.Grouped(n), Strong: true, Tone: tone}, {Text: words}}})
		}
	}
	row(told, sheet.Plain, fmt.Sprintf("told: %s alone, %s in a group", tuning.Grouped(t.Alone), tuning.Grouped(told-t.Alone)))
	row(t.Late, sheet.Caution, "of those told more than 5 minutes after they were raised")
	row(t.ByOutcome[snapshot.AlertWaiting], sheet.Plain, "waiting to be sent at the end of the window")
	row(t.ByOutcome[snapshot.AlertFailed], sheet.Critical, "could not be delivered")
	row(t.ByOutcome[snapshot.AlertMuted], sheet.Plain, "muted before they were sent")
	row(t.ByOutcome[snapshot.AlertMaintenance], sheet.Plain, "raised in a maintenance window")
	row(t.ByOutcome[snapshot.AlertSuppressed], sheet.Plain, "suppressed: resolved in quiet hours, or without a recipient, rule or channel")
	row(t.ByOutcome[snapshot.AlertUnmatched], sheet.Warning, "no rule matched: nobody was told")
	row(t.ByOutcome[snapshot.AlertNotKept], sheet.Caution, "not known: what became of notifications is kept for 90 days")
	row(t.Critical, sheet.Critical, "critical ones among those that nobody was told of")
	if len(rows) == 0 {
		s.Parts = []sheet.Part{{Words: "No alert was raised in the window, so there was nothing to tell.", Empty: true}}
		return s
	}
	s.Parts = []sheet.Part{{Table: &sheet.Table{Name: "Told and not told", Columns: []sheet.Column{{Name: "Alerts", Right: true}, {Name: "What became of their notifications", Weight: 1}}, Rows: rows}}}
	if len(doc.AlertRecords.Channels) == 0 {
		return s
	}
	channels := &sheet.Table{Name: "By channel", Columns: []sheet.Column{{Name: "Channel", Weight: 1}, {Name: "Kind"}, {Name: "Told", Right: true}, {Name: "Failed", Right: true}}}
	for _, c := range doc.AlertRecords.Channels {
		failed := sheet.Cell{Text: tuning.Grouped(c.Failed)}
		if c.Failed > 0 {
			failed.Tone = sheet.Critical
		}
		channels.Rows = append(channels.Rows, sheet.Row{Cells: []sheet.Cell{{Text: cmp.Or(c.Name, "removed channel"), Strong: true}, {Text: cmp.Or(c.Kind, "–")}, {Text: tuning.Grouped(c.Sent)}, failed}})
	}
	s.Parts = append(s.Parts, sheet.Part{Title: "By channel", Table: channels, Note: "An alert that two channels told counts at both. Deliveries are kept for 90 days, and earlier ones are not counted."})
	return s
}
