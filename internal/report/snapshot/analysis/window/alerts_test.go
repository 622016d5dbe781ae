package window_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/timegrid"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis/window"
	"muster/internal/report/snapshot/snapshottest"
)

// noon is when the window of these tests starts; it is three hours long.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func after(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

// raised is an alert that was raised and fired so many minutes after noon; it was
// resolved at the end where that is not 0.
func raised(severity, title string, from, last, end int) snapshot.Alert {
	a := snapshot.Alert{Title: title, Severity: severity, CreatedAt: after(from), FirstTriggeredAt: after(from), LastTriggeredAt: after(last)}
	if end != 0 {
		at := after(end)
		a.ResolvedAt = &at
	}
	return a
}

func alerted(alerts ...snapshot.Alert) snapshot.Document {
	doc := snapshot.Document{Instances: []snapshot.Instance{{Name: "a", CreatedAt: noon.AddDate(-1, 0, 0)}}}
	for i := range alerts {
		alerts[i].ID = snapshottest.ID(i)
	}
	doc.Window = &snapshot.Window{From: noon, To: after(180)}
	doc.Alerts = &snapshot.AlertHistory{Listed: alerts, Total: len(alerts)}
	return doc
}

func TestAlertsAreSummedUp(t *testing.T) {
	t.Parallel()
	mute := func(a snapshot.Alert) snapshot.Alert { a.Muted = true; return a }
	doc := alerted(
		raised("warning", "lag", 10, 15, 20),
		raised("warning", "lag", 15, 35, 40),    // overlaps the one before
		raised("warning", "lag", 170, 175, 0),   // open at the end
		raised("critical", "disk", -60, 25, 30), // from before the window
		raised("info", "bloat", -60, 200, 240),  // throughout: resolved after it
		mute(raised("critical", "muted", 0, 30, 60)),
		raised("purple", "unheard of", 60, 60, 61),
	)
	doc.Alerts.Total += 3
	got, ok := window.Alerts(doc)
	if !ok {
		t.Fatal("nothing is known")
	}
	min := time.Minute
	if diff := cmp.Diff(window.AlertCounts{Alerts: 6, Raised: 4, Resolved: 4, Open: 2, Active: 180 * min, Median: 17*min + 30*time.Second}, got.All); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	lag := window.AlertCounts{Severity: "warning", Title: "lag", Alerts: 3, Raised: 3, Resolved: 2, Open: 1, Active: 40 * min, Median: 17*min + 30*time.Second}
	want := []window.AlertCounts{
		{Severity: "critical", Title: "disk", Alerts: 1, Resolved: 1, Active: 30 * min, Median: 90 * min},
		lag,
		{Severity: "info", Title: "bloat", Alerts: 1, Open: 1, Active: 180 * min},
		{Severity: "purple", Title: "unheard of", Alerts: 1, Raised: 1, Resolved: 1, Active: min, Median: min},
	}
	if diff := cmp.Diff(want, got.Titles); diff != "" {
		t.Errorf("titles (-want +got):\n%s", diff)
	}
	for i := range want {
		want[i].Title = ""
	}
	if diff := cmp.Diff(want, got.Severity); diff != "" {
		t.Errorf("severities (-want +got):\n%s", diff)
	}
	var titles []string
	for _, a := range got.Alerts {
		titles = append(titles, a.Title+" "+a.Active.String())
	}
	if diff := cmp.Diff([]string{"disk 30m0s", "lag 25m0s", "lag 10m0s", "lag 10m0s", "bloat 3h0m0s", "unheard of 1m0s"}, titles); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if len(got.Muted) != 1 || got.Unlisted != 3 {
		t.Errorf("%d muted, %d unlisted", len(got.Muted), got.Unlisted)
	}
	hours := []window.AlertBucket{
		{Start: noon, Monitored: true, Active: [3]int{1, 2, 1}, Resolved: 3},
		{Start: after(60), Monitored: true, Active: [3]int{0, 0, 1}, Resolved: 1},
		{Start: after(120), Monitored: true, Active: [3]int{0, 1, 1}},
	}
	if diff := cmp.Diff(&window.AlertSeries{Size: timegrid.Hour, Buckets: hours}, got.Series); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// The order in which alerts were read must not show.
func TestAlertsInAnyOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var alerts []snapshot.Alert
	for range 60 {
		from := random.IntN(100)
		alerts = append(alerts, raised([]string{"critical", "warning", "info"}[random.IntN(3)], []string{"a", "b", "c"}[random.IntN(3)], from, from+5, from+10))
	}
	doc := alerted(alerts...)
	want, _ := window.Alerts(doc)
	for range 20 {
		random.Shuffle(len(doc.Alerts.Listed), func(i, j int) {
			listed := doc.Alerts.Listed
			listed[i], listed[j] = listed[j], listed[i]
		})
		got, _ := window.Alerts(doc)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("in another order:\n%s", diff)
		}
	}
}

func TestAlertSeries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to time.Time
		created  time.Time
		size     timegrid.Size // empty: none
		buckets  int
		watched  int // of them
	}{
		"two days are cut into hours":       {noon, noon.AddDate(0, 0, 2), noon.AddDate(-1, 0, 0), timegrid.Hour, 48, 48},
		"an hour cut in two":                {after(30), after(90), noon.AddDate(-1, 0, 0), timegrid.Hour, 2, 2},
		"more than that into days":          {noon, noon.AddDate(0, 0, 2).Add(1), noon.AddDate(-1, 0, 0), timegrid.Day, 3, 3},
		"31 days":                           {noon, noon.AddDate(0, 0, 31), noon.AddDate(-1, 0, 0), timegrid.Day, 32, 32},
		"registered meanwhile":              {noon, noon.AddDate(0, 0, 31), noon.AddDate(0, 0, 10), timegrid.Day, 32, 22},
		"registered as a day ends":          {noon, noon.AddDate(0, 0, 31), noon.AddDate(0, 0, 10).Truncate(24 * time.Hour), timegrid.Day, 32, 22},
		"registered afterwards":             {noon, noon.AddDate(0, 0, 31), noon.AddDate(0, 2, 0), timegrid.Day, 32, 0},
		"a window that nobody can ask for":  {noon, noon.AddDate(9, 0, 0), noon, "", 0, 0},
		"a window without length":           {noon, noon, noon, "", 0, 0},
		"a window that ends before it does": {noon, noon.AddDate(0, 0, -3), noon, "", 0, 0},
	} {
		doc := alerted(raised("info", "a", 10, 40, 50))
		doc.Window, doc.Instances[0].CreatedAt = &snapshot.Window{From: c.from, To: c.to}, c.created
		got, _ := window.Alerts(doc)
		if got.Series == nil {
			if c.size != "" {
				t.Errorf("%s: no series", name)
			}
			continue
		}
		watched := slices.DeleteFunc(slices.Clone(got.Series.Buckets), func(b window.AlertBucket) bool { return !b.Monitored })
		if got.Series.Size != c.size || len(got.Series.Buckets) != c.buckets || len(watched) != c.watched {
			t.Errorf("%s: %d buckets of %q, %d watched", name, len(got.Series.Buckets), got.Series.Size, len(watched))
		}
	}
}

func TestAlertsThatWereNotGathered(t *testing.T) {
	t.Parallel()
	doc := alerted()
	if _, ok := window.Alerts(doc); !ok {
		t.Error("no alerts are not known")
	}
	doc.Window = nil
	if _, ok := window.Alerts(doc); ok {
		t.Error("alerts without a window")
	}
	doc = alerted()
	doc.Alerts = nil
	if _, ok := window.Alerts(doc); ok {
		t.Error("alerts of a document without")
	}
}
