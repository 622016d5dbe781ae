package slasum

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"muster/domain/objective"
	"muster/domain/report"
	"muster/internal/engine/tuning"
	"muster/internal/measurements/forecast"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/sheet"
)

func (p printer) latency() sheet.Section {
	s := sheet.Section{ID: string(report.SectionLatency), Title: "Latency"}
	t := &sheet.Table{Name: "Latency against the objective", Columns: []sheet.Column{
		{Name: "Server", Weight: 1}, {Name: "Objective, mean", Right: true}, {Name: "Mean", Right: true}, {Name: "Hours with executions", Right: true}, {Name: "Verdict"},
	}}
	unmeasured := 0
	for _, l := range p.s.Lines {
		if l.MeanMs == nil && l.ObjectiveMs == nil {
			unmeasured++
			continue
		}
		if len(t.Rows) == mostLines {
			continue
		}
		coverage := "none"
		if l.MeanMs != nil {
			coverage = strconv.FormatFloat(math.Floor(1000*l.Coverage)/10, 'f', 1, 64) + "%"
		}
		t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
			{Text: l.Name}, aim(l.ObjectiveMs, func(v float64) string { return "≤ " + ms(v) }), aim(l.MeanMs, ms), {Text: coverage}, verdict(l.Latency),
		}})
	}
	if len(t.Rows) == 0 {
		s.Parts = []sheet.Part{{Words: "No executions were measured on any server, and no server had an objective of latency."}}
		return s
	}
	part := sheet.Part{Table: t, Note: "The mean is over all executions. With executions in fewer than half of the hours, it cannot be told whether the objective was kept."}
	if unmeasured > 0 {
		part.Note += fmt.Sprintf(" No executions were measured on %s without an objective.", tuning.Plural(unmeasured, "further server", "further servers"))
	}
	s.Parts = []sheet.Part{part}
	return s
}

// ms is a number of milliseconds.
func ms(v float64) string {
	switch {
	case v >= 60_000:
		return length(time.Duration(v * float64(time.Millisecond)))
	case v >= 1000:
		return strconv.FormatFloat(math.Round(v/10)/100, 'f', -1, 64) + " s"
	case v > 0 && v < 0.001:
		return "< 0.001 ms"
	}
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64) + " ms"
}

func (p printer) statements() sheet.Section {
	s := sheet.Section{ID: string(report.SectionStatements), Title: "The statements that cost most"}
	r := p.records().Statements
	switch {
	case r.Missing == snapshot.ServiceNotKept:
		s.Parts = []sheet.Part{{Words: "The statements of this window are no longer kept."}}
		return s
	case r.Missing != "" || len(r.Listed) == 0:
		s.Parts = []sheet.Part{{Words: "No statements were measured in this window."}}
		return s
	}
	t := &sheet.Table{Name: "Statements", Columns: []sheet.Column{
		{Name: "Statement", Weight: 1}, {Name: "Server"}, {Name: "Executions", Right: true}, {Name: "Mean", Right: true}, {Name: "Time", Right: true},
		{Name: "Share", Right: true}, {Name: "Over the objective", Right: true},
	}}
	for _, one := range r.Listed {
		over := sheet.Cell{Text: "–", Tone: sheet.Muted}
		if excess, ok := p.s.Over(one); ok {
			if over = (sheet.Cell{Text: "0 s"}); excess > 0 {
				over = sheet.Cell{Text: ms(excess), Tone: sheet.Warning}
			}
		}
		text := one.Text
		if text == "" {
			text = one.ID.String()
		}
		t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
			{Text: short(text)}, {Text: p.names[one.InstanceID]}, {Text: tuning.Grouped(int(one.Calls))}, {Text: ms(one.TotalMs / one.Calls)}, {Text: ms(one.TotalMs)},
			{Text: percent(math.Round(1000*one.TotalMs/r.TotalMs) / 10)}, over,
		}})
	}
	note := fmt.Sprintf("The %s that took most time, of %s, from %s to %s (UTC). Over the objective is the time beyond what the server's latency objective allows for as many executions.",
		tuning.Plural(len(r.Listed), "statement", "statements"), tuning.Grouped(r.Count), r.From.UTC().Format(minute), r.To.UTC().Format(minute))
	if r.Partial {
		note += " Some servers report only a part of their statements."
	}
	s.Parts = []sheet.Part{{Table: t, Note: note}}
	return s
}

// mostText is how many characters of a statement are printed.
const mostText = 120

func short(text string) string {
	if runes := []rune(text); len(runes) > mostText {
		return string(runes[:mostText]) + "…"
	}
	return text
}

// reasons says why there is no date.
var reasons = map[string]string{
	string(forecast.NotMeasured): "not measured", string(forecast.NoLimit): "no limit", string(forecast.Stale): "measured too long ago",
	string(forecast.TooShort): "measured for less than 7 days", string(forecast.SawTooth): "rises and falls", string(forecast.Step): "jumped recently",
	string(forecast.NotGrowing): "does not grow", string(forecast.Noise): "varies more than it grows", string(forecast.Far): "not within 2 years",
}

func (p printer) room() sheet.Section {
	s := sheet.Section{ID: string(report.SectionRoom), Title: "Room and growth"}
	r := p.records()
	if len(r.Rooms) == 0 {
		s.Parts = []sheet.Part{{Words: "No size was measured in this window."}}
		return s
	}
	t := &sheet.Table{Name: "Room and growth", Columns: []sheet.Column{
		{Name: "What", Weight: 1}, {Name: "Server", Weight: 1}, {Name: "Used at end", Right: true}, {Name: "Limit", Right: true}, {Name: "Growth", Right: true}, {Name: "Full in"},
	}}
	for _, one := range r.Rooms {
		on := p.names[one.InstanceID]
		if one.Host != "" {
			on = one.Host
		}
		limit := "–"
		if one.Limit > 0 {
			limit = size(one.Limit, one.Limit)
		}
		t.Rows = append(t.Rows, sheet.Row{Cells: []sheet.Cell{
			{Text: one.Name, Note: one.Kind}, {Text: on}, {Text: size(one.LastUsed, one.Limit)}, {Text: limit}, growth(one), full(one),
		}})
	}
	part := sheet.Part{Table: t, Note: "Growth is from the first to the last measurement in the window. A date is stated with the range that holds 9 of 10 times (" + forecast.Method + ")."}
	if more := r.RoomsSeen - len(r.Rooms); more > 0 {
		part.Note += " " + tuning.Plural(more, "further volume, tablespace or database is", "further volumes, tablespaces and databases are") + " measured."
	}
	s.Parts = []sheet.Part{part}
	return s
}

func growth(one snapshot.ServiceRoom) sheet.Cell {
	grown := one.LastUsed - one.FirstUsed
	text := "+" + size(math.Abs(grown), one.Limit)
	switch {
	case grown < 0:
		text = "−" + size(-grown, one.Limit)
	case grown == 0:
		text = "0"
	}
	return sheet.Cell{Text: text, Note: "in " + length(one.Last.Sub(one.First))}
}

func full(one snapshot.ServiceRoom) sheet.Cell {
	if one.Days == nil {
		why := reasons[one.Reason]
		if why == "" {
			why = "not known"
		}
		return sheet.Cell{Text: why, Tone: sheet.Muted}
	}
	cell := sheet.Cell{Text: days(*one.Days), Strong: *one.Days <= 30}
	if *one.Days <= 7 {
		cell.Tone = sheet.Critical
	}
	if one.Soonest != nil && one.Latest != nil {
		cell.Note = days(*one.Soonest) + " – " + days(*one.Latest)
	}
	return cell
}

func days(n float64) string {
	if n == 0 {
		return "full"
	}
	return tuning.Plural(int(math.Round(n)), "day", "days")
}

// size is a number of bytes; of percent where the limit is 100.
func size(bytes, limit float64) string {
	if limit == 100 {
		return strconv.FormatFloat(math.Round(10*bytes)/10, 'f', -1, 64) + "%"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	unit := 0
	for bytes >= 1024 && unit < len(units)-1 {
		bytes, unit = bytes/1024, unit+1
	}
	return strconv.FormatFloat(math.Round(10*bytes)/10, 'f', -1, 64) + " " + units[unit]
}

func (p printer) repair() sheet.Section {
	s := sheet.Section{ID: string(report.SectionRepair), Title: "Detection and repair"}
	if p.s.Outages == 0 {
		s.Parts = []sheet.Part{{Words: "No outage is known in this window."}}
		return s
	}
	spans := &sheet.Spans{Name: "Detection and repair", Rows: []sheet.Span{
		span("Alert after", p.s.Seen, p.s.Unseen, "no alert"),
		span("Taken after", p.s.Taken, p.s.Untaken, "not acknowledged"),
		span("Repaired after", p.s.Repaired, p.s.Repaired.Open, "end or start not seen"),
	}}
	note := "A dot is the median, and the bar ends at the 90th percentile. Outages that began before the window, or went on at its end, lasted at least as long as the window shows."
	if p.s.Unlisted > 0 {
		note += fmt.Sprintf(" %s of servers with more than %d are not in these times.", tuning.Plural(p.s.Unlisted, "shorter outage", "shorter outages"), snapshot.MaxServiceSpans)
	}
	s.Parts = []sheet.Part{{Spans: spans, Note: note}}
	return s
}

func span(name string, t Times, missing int, without string) sheet.Span {
	out := sheet.Span{Name: name, MedianText: "–", NinetyText: "–", Note: "of " + tuning.Plural(t.N, "outage", "outages")}
	if missing > 0 {
		out.Note += fmt.Sprintf("; %s: %s", tuning.Grouped(missing), without)
	}
	if t.N == 0 {
		return out
	}
	median, ninetieth := t.Median.Seconds(), t.Ninetieth.Seconds()
	out.Median, out.Ninetieth = &median, &ninetieth
	out.MedianText, out.NinetyText = least(t.Median, t.MedianLeast), least(t.Ninetieth, t.NinetieLeast)
	return out
}

func least(d time.Duration, is bool) string {
	if is {
		return "at least " + length(d)
	}
	return length(d)
}

func (p printer) method() sheet.Section {
	s := sheet.Section{ID: string(report.SectionServiceMethod), Title: "Method"}
	for _, words := range []string{
		"Muster judges every 10 seconds whether a server accepts connections, by its own attempts and by agents and exporters. Time for which nobody knows is unknown. " +
			"The availability is a range: its low end counts unknown time as down, its high end as up. An objective is kept if the low end keeps it, and missed if the high end " +
			"misses it. Otherwise it cannot be told.",
		"Time in maintenance windows is outside the objective. A window counts from its announcement. Time before a server was registered, after it was removed, and while it was " +
			"switched off counts as nothing.",
		"Objectives, tags and windows are those that held at the end of the window. All figures are as of that end: what happened later changes nothing.",
		"The mean latency is over all executions of whole hours that no maintenance window touches. " +
			fmt.Sprintf("It is judged if at least %d%% of the hours have executions.", int(100*objective.LeastCoverage)),
		"The time to an alert is from the beginning of an outage until Muster raised “Server down”. sla.csv has every server, in seconds.",
	} {
		s.Parts = append(s.Parts, sheet.Part{Words: words})
	}
	return s
}
