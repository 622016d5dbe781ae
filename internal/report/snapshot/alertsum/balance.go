package alertsum

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/internal/report/snapshot"
)

// Row is a balance of the alerts that have something in common.
type Row struct {
	Name string
	snapshot.AlertSum
}

// Day is a UTC day of the window, or what the window has of it.
type Day struct {
	Start            time.Time
	Raised, Resolved int
	Open             int // at its end
}

// Balance is the balance of a window: of all alerts, and by severity, server and rule. The rows of each list have all
// alerts, so they add up to All.
type Balance struct {
	All        snapshot.AlertSum
	ByItself   int   // resolved in the window without a person
	Severities []Row // the worst first
	Servers    []Row // those with most alerts first
	Rules      []Row // likewise
	Days       []Day
}

// BalanceOf computes the balance of a document; zero if it has no records or no window.
func BalanceOf(doc snapshot.Document) Balance {
	var b Balance
	if doc.AlertRecords == nil || doc.Window == nil {
		return b
	}
	w, names := *doc.Window, serverNames(doc)
	severities, servers, rules := map[string]*snapshot.AlertSum{}, map[string]*snapshot.AlertSum{}, map[string]*snapshot.AlertSum{}
	for _, s := range alert.Severities() {
		severities[string(s)] = &snapshot.AlertSum{}
	}
	for i := range doc.AlertRecords.Listed {
		a := &doc.AlertRecords.Listed[i]
		one := a.Sum(w)
		b.All.Add(one)
		if one.Resolved > 0 && a.ByItself {
			b.ByItself++
		}
		addTo(severities, a.Severity, one)
		addTo(servers, names[a.InstanceID], one)
		addTo(rules, a.Rule, one)
	}
	if u := doc.AlertRecords.Unlisted; u != nil {
		b.All.Add(*u)
		for _, rows := range []map[string]*snapshot.AlertSum{severities, servers, rules} {
			addTo(rows, unlisted, *u)
		}
	}
	b.Severities, b.Servers, b.Rules = rows(severities, bySeverity), rows(servers, byNumber), rows(rules, byNumber)
	b.Days = days(doc.AlertRecords, w)
	return b
}

const (
	unlisted = "further alerts, not listed"
	noServer = "no server"
)

// serverNames are the names of servers by id; two servers with one name are told apart.
func serverNames(doc snapshot.Document) map[uuid.UUID]string {
	names, times := map[uuid.UUID]string{uuid.Nil: noServer}, map[string]int{}
	for _, s := range doc.AlertRecords.Servers {
		times[s.Name]++
	}
	for _, s := range doc.AlertRecords.Servers {
		if names[s.ID] = s.Name; times[s.Name] > 1 {
			names[s.ID] += " (" + s.ID.String()[24:] + ")"
		}
	}
	return names
}

func addTo(rows map[string]*snapshot.AlertSum, name string, s snapshot.AlertSum) {
	if rows[name] == nil {
		rows[name] = &snapshot.AlertSum{}
	}
	rows[name].Add(s)
}

func rows(sums map[string]*snapshot.AlertSum, order func(a, b Row) int) []Row {
	var all []Row
	for name, sum := range sums {
		all = append(all, Row{name, *sum})
	}
	slices.SortFunc(all, func(a, b Row) int { return cmp.Or(order(a, b), strings.Compare(a.Name, b.Name)) })
	return all
}

func bySeverity(a, b Row) int {
	rank := func(r Row) int { return slices.Index(alert.Severities(), alert.Severity(r.Name)) }
	return cmp.Compare(rank(b), rank(a))
}

// byNumber puts the rows with most alerts first, and alerts that are not listed last.
func byNumber(a, b Row) int {
	last := func(r Row) int {
		if r.Name == unlisted {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(b.Start+b.Raised, a.Start+a.Raised))
}

// days are the UTC days of a window with their listed alerts.
func days(records *snapshot.AlertRecords, w snapshot.Window) []Day {
	var all []Day
	for at := w.From; at.Before(w.To); {
		next := at.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		if next.After(w.To) {
			next = w.To
		}
		day := Day{Start: at}
		for i := range records.Listed {
			a := &records.Listed[i]
			one := a.Sum(snapshot.Window{From: at, To: next})
			day.Raised, day.Resolved, day.Open = day.Raised+one.Raised, day.Resolved+one.Resolved, day.Open+one.End
		}
		all = append(all, day)
		at = next
	}
	return all
}
