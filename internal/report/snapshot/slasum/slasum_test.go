package slasum_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"muster/domain/objective"
	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/slasum"
	"muster/internal/report/snapshot/snapshottest"
)

var begin = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func document(days int, budgetTo time.Time, servers ...snapshot.ServiceServer) snapshot.Document {
	w := snapshot.Window{From: begin, To: begin.AddDate(0, 0, days)}
	for i := range servers {
		s := &servers[i]
		s.From, s.To, s.OutageN = w.From, w.To, len(s.Outages)
		s.Up = w.To.Sub(w.From) - s.Down - s.Unknown - s.Maintenance
	}
	return snapshot.Document{Kind: string(report.PerformanceSLA), Window: &w, ServiceRecords: &snapshot.ServiceRecords{BudgetTo: budgetTo, Servers: servers}}
}

// TestTheBudgetIsOfTheMonthThatTheWindowBegins, else of the window.
func TestTheBudgetIsOfTheMonthThatTheWindowBegins(t *testing.T) {
	t.Parallel()
	percent := 99.9
	server := snapshot.ServiceServer{Name: "orders", ObjectivePercent: &percent, Down: 97 * time.Minute, Unknown: time.Hour}
	for _, c := range []struct {
		budgetTo     time.Time
		budget, left time.Duration
		words        string
	}{
		{begin.AddDate(0, 1, 0), 43*time.Minute + 12*time.Second, -(53*time.Minute + 48*time.Second), "Its budget for November is 43 min 12 s."},
		{begin.AddDate(0, 0, 25), 36 * time.Minute, -61 * time.Minute, "Its budget for the window is 36 min."},
	} {
		doc := document(25, c.budgetTo, server)
		line := slasum.Summarize(doc).Lines[0]
		if line.Budget.Round(time.Second) != c.budget || line.Left().Round(time.Second) != c.left || line.Verdict != objective.Missed {
			t.Errorf("the budget until %s is %s, %s left, %s", c.budgetTo, line.Budget, line.Left(), line.Verdict)
		}
		if s := slasum.Sheet(doc); !strings.Contains(s.Rest, c.words) || s.State != "Critical" {
			t.Errorf("%s: %q, want %q", s.State, s.Rest, c.words)
		}
	}
}

// TestAnOpenOutageHasAMinimumDuration, and so does one that began before the window.
func TestAnOpenOutageHasAMinimumDuration(t *testing.T) {
	t.Parallel()
	outage := func(after, lasted time.Duration, ongoing bool) snapshot.ServiceOutage {
		from := begin.Add(after)
		seen := from.Add(time.Minute)
		return snapshot.ServiceOutage{From: from, To: from.Add(lasted), Ongoing: ongoing, SeenAt: &seen}
	}
	before := outage(0, 5*time.Minute, false)
	for name, c := range map[string]struct {
		outages       []snapshot.ServiceOutage
		median        time.Duration
		least, most   bool
		seen, unknown int
	}{
		"all are over":       {[]snapshot.ServiceOutage{outage(time.Hour, time.Minute, false), outage(2*time.Hour, 3*time.Minute, false), outage(3*time.Hour, 9*time.Minute, false)}, 3 * time.Minute, false, false, 3, 0},
		"the longest is not": {[]snapshot.ServiceOutage{outage(time.Hour, time.Minute, false), outage(2*time.Hour, 3*time.Minute, false), outage(3*time.Hour, 9*time.Minute, true)}, 3 * time.Minute, false, true, 3, 1},
		"a short one is not": {[]snapshot.ServiceOutage{outage(time.Hour, time.Minute, true), outage(2*time.Hour, 3*time.Minute, false), outage(3*time.Hour, 9*time.Minute, false)}, 3 * time.Minute, true, true, 3, 1},
		"began before":       {[]snapshot.ServiceOutage{before}, 5 * time.Minute, true, true, 0, 1},
	} {
		s := slasum.Summarize(document(2, begin.AddDate(0, 0, 2), snapshot.ServiceServer{Name: "orders", Outages: c.outages}))
		r := s.Repaired
		if r.Median != c.median || r.MedianLeast != c.least || r.NinetieLeast != c.most || s.Seen.N != c.seen || r.Open != c.unknown {
			t.Errorf("%s: %+v, %d seen", name, r, s.Seen.N)
		}
	}
}

// TestUnknownIsNeverUp: not in the figures, not in the verdict, and not in the words.
func TestUnknownIsNeverUp(t *testing.T) {
	t.Parallel()
	percent := 99.0
	doc := document(10, begin.AddDate(0, 0, 10), snapshot.ServiceServer{Name: "orders", ObjectivePercent: &percent, Unknown: 10 * 24 * time.Hour})
	s := slasum.Sheet(doc)
	if s.State != "Unknown" || s.Figures[0].Value != "0 s" || s.Figures[2].Value != "10 d" || !strings.Contains(s.Rest, "Nothing was ever heard of 1 server.") {
		t.Errorf("a server that was never heard: %s, %+v, %q", s.State, s.Figures, s.Rest)
	}
	for name, empty := range map[string]snapshot.Document{"no servers": document(10, begin), "nothing gathered": {Kind: string(report.PerformanceSLA)}} {
		if s := slasum.Sheet(empty); s.State != "Nothing" || s.Lead == "" || len(s.Sections) != 8 {
			t.Errorf("%s: %s, %q, %d sections", name, s.State, s.Lead, len(s.Sections))
		}
	}
}

// TestASheetIsReproducible, in the order of its sections, and every row has all cells.
func TestASheetIsReproducible(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.PerformanceSLA)
	first, err := json.Marshal(slasum.Sheet(doc))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(slasum.Sheet(snapshot.Normalize(doc))); string(again) != string(first) {
		t.Error("the second sheet is another one")
	}
	kind, _ := report.Find(report.PerformanceSLA)
	for i, section := range slasum.Sheet(doc).Sections {
		if section.ID != string(kind.Sections[i]) {
			t.Errorf("section %d is %s, want %s", i, section.ID, kind.Sections[i])
		}
		for _, part := range section.Parts {
			if part.Table == nil {
				continue
			}
			for _, row := range part.Table.Rows {
				if len(row.Cells) != len(part.Table.Columns) {
					t.Errorf("%s: a row has %d cells, the table %d columns", part.Table.Name, len(row.Cells), len(part.Table.Columns))
				}
			}
		}
	}
}

// TestTheBudgetBurnsDownDayByDay: full at the begin, less by each outage, never below nothing; unknown time may be down,
// and days that have not come have nothing.
func TestTheBudgetBurnsDownDayByDay(t *testing.T) {
	t.Parallel()
	percent := 99.9 // 43 min 12 s of November
	at := func(day, minutes int) snapshot.ServiceOutage {
		from := begin.AddDate(0, 0, day-1).Add(23*time.Hour + 50*time.Minute)
		return snapshot.ServiceOutage{From: from, To: from.Add(time.Duration(minutes) * time.Minute)}
	}
	gap := snapshot.Window{From: begin.AddDate(0, 0, 11), To: begin.AddDate(0, 0, 11).Add(2160 * time.Millisecond * 6)}
	doc := document(20, begin.AddDate(0, 1, 0),
		snapshot.ServiceServer{Name: "orders", ObjectivePercent: &percent, Down: 61 * time.Minute, Outages: []snapshot.ServiceOutage{at(3, 21), at(9, 40)}},
		snapshot.ServiceServer{Name: "billing", ObjectivePercent: &percent, Unknown: gap.To.Sub(gap.From), Gaps: []snapshot.Window{gap}, GapN: 1},
		snapshot.ServiceServer{Name: "legacy"},
	)
	b := slasum.Sheet(doc).Burn
	if b == nil || len(b.Days) != 30 || b.Days[0] != "1 Nov" || len(b.Rows) != 2 || b.Rows[0].Of != "orders" || b.Rows[0].Text != "−17 min 48 s" {
		t.Fatalf("the picture is %+v", b)
	}
	for _, c := range []struct {
		row, day    int
		left, least float64
	}{
		{0, 2, 100, 100}, {0, 3, 76.85, 76.85}, {0, 4, 51.39, 51.39}, {0, 9, 28.24, 28.24}, {0, 10, 0, 0}, {0, 20, 0, 0},
		{1, 11, 100, 100}, {1, 12, 100, 99.5}, {1, 20, 100, 99.5}, {1, 21, 0, 0}, {1, 30, 0, 0},
	} {
		got := b.Rows[c.row].Days[c.day-1]
		if math.Abs(got.Left-c.left) > 0.01 || math.Abs(got.Least-c.least) > 0.01 {
			t.Errorf("%s on %d Nov: %.2f%% left, at least %.2f%%; want %.2f and %.2f", b.Rows[c.row].Of, c.day, got.Left, got.Least, c.left, c.least)
		}
	}
	if none := slasum.Sheet(document(20, begin.AddDate(0, 0, 20), snapshot.ServiceServer{Name: "legacy"})).Burn; none != nil {
		t.Errorf("without an objective there is %+v", none)
	}
}
