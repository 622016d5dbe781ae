package window

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/domain/alert"
	"muster/domain/timegrid"
	"muster/internal/report/snapshot"
)

// AlertSummary is what a scorecard says about the alerts of its window. Only
// alerts that are not muted count in it.
type AlertSummary struct {
	All      AlertCounts
	Severity []AlertCounts // critical, warning, info, those that had an alert
	Titles   []AlertCounts // by severity and title: worst first, then longest, then by title
	Series   *AlertSeries  // nil where the window has no buckets
	Alerts   []OpenAlert   // worst first, then longest, then newest
	Muted    []OpenAlert   // in the same order
	Unlisted int           // alerts that the document does not list, so that no figure counts them
}

// AlertCounts are the figures of some alerts.
type AlertCounts struct {
	Severity string
	Title    string        // empty: of every title
	Alerts   int           // that touch the window
	Raised   int           // created in it
	Resolved int           // closed in it
	Open     int           // at its end
	Active   time.Duration // in which one of them at least was open
	Median   time.Duration // from creation to the end, of those that were resolved in the window
}

// OpenAlert is an alert with how long it was open within the window.
type OpenAlert struct {
	snapshot.Alert
	Active time.Duration
}

// AlertSeries is the alert history in buckets of one size, by the definitions of
// the alert history that the program shows.
type AlertSeries struct {
	Size    timegrid.Size
	Buckets []AlertBucket
}

// AlertBucket is one bucket; the first and the last are cut at the window's ends.
type AlertBucket struct {
	Start     time.Time
	Monitored bool                      // false: it ends before the instance was registered
	Active    [len(AlertSeverities)]int // fired in it, in the order of AlertSeverities
	Resolved  int                       // closed in it
}

// AlertSeverities are the severities of alerts, the worst first.
var AlertSeverities = [...]string{string(alert.Critical), string(alert.Warning), string(alert.Info)}

// Alerts sums up the alerts of a scorecard; ok is false where the document does
// not know of any source of them, or has no window.
func Alerts(doc snapshot.Document) (s AlertSummary, ok bool) {
	if doc.Alerts == nil || doc.Window == nil {
		return AlertSummary{}, false
	}
	w := *doc.Window
	var counted []snapshot.Alert
	for _, a := range doc.Alerts.Listed {
		if a.Muted {
			s.Muted = append(s.Muted, OpenAlert{a, openIn(a, w)})
			continue
		}
		counted = append(counted, a)
		s.Alerts = append(s.Alerts, OpenAlert{a, openIn(a, w)})
	}
	s.Unlisted = max(0, doc.Alerts.Total-len(doc.Alerts.Listed))
	s.All = count(counted, w)
	s.Severity = countBy(counted, w, func(a snapshot.Alert) AlertCounts { return AlertCounts{Severity: a.Severity} })
	s.Titles = countBy(counted, w, func(a snapshot.Alert) AlertCounts { return AlertCounts{Severity: a.Severity, Title: a.Title} })
	s.Series = series(doc, counted, w)
	slices.SortStableFunc(s.Alerts, OpenAlert.compare)
	slices.SortStableFunc(s.Muted, OpenAlert.compare)
	return s, true
}

func (a OpenAlert) compare(b OpenAlert) int {
	return cmp.Or(
		cmp.Compare(alertRank(a.Severity), alertRank(b.Severity)),
		cmp.Compare(b.Active, a.Active),
		b.CreatedAt.Compare(a.CreatedAt),
		strings.Compare(a.ID.String(), b.ID.String()),
	)
}

// alertRank is 0 for the worst; a word that this program does not know comes last.
func alertRank(severity string) int {
	if i := slices.Index(AlertSeverities[:], severity); i >= 0 {
		return i
	}
	return len(AlertSeverities)
}

// span is when an alert was open within the window; from is not before to if it was not.
func span(a snapshot.Alert, w snapshot.Window) (from, to time.Time) {
	from, to = a.CreatedAt, w.To
	if from.Before(w.From) {
		from = w.From
	}
	if a.ResolvedAt != nil && a.ResolvedAt.Before(to) {
		to = *a.ResolvedAt
	}
	return from, to
}

func openIn(a snapshot.Alert, w snapshot.Window) time.Duration {
	from, to := span(a, w)
	return max(0, to.Sub(from))
}

// count sums up some alerts.
func count(alerts []snapshot.Alert, w snapshot.Window) AlertCounts {
	c := AlertCounts{Alerts: len(alerts), Active: anyOpen(alerts, w)}
	var took []time.Duration
	for _, a := range alerts {
		if w.Within(&a.CreatedAt) {
			c.Raised++
		}
		if w.Within(a.ResolvedAt) {
			c.Resolved++
			took = append(took, max(0, a.ResolvedAt.Sub(a.CreatedAt)))
		}
		if a.CreatedAt.Before(w.To) && (a.ResolvedAt == nil || !a.ResolvedAt.Before(w.To)) {
			c.Open++
		}
	}
	c.Median = median(took)
	return c
}

// countBy sums up the alerts of each key, the worst first.
func countBy(alerts []snapshot.Alert, w snapshot.Window, key func(snapshot.Alert) AlertCounts) []AlertCounts {
	groups := map[AlertCounts][]snapshot.Alert{}
	for _, a := range alerts {
		groups[key(a)] = append(groups[key(a)], a)
	}
	out := make([]AlertCounts, 0, len(groups))
	for k, group := range groups {
		c := count(group, w)
		c.Severity, c.Title = k.Severity, k.Title
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b AlertCounts) int {
		return cmp.Or(
			cmp.Compare(alertRank(a.Severity), alertRank(b.Severity)), strings.Compare(a.Severity, b.Severity),
			cmp.Compare(b.Active, a.Active), cmp.Compare(b.Alerts, a.Alerts), strings.Compare(a.Title, b.Title))
	})
	return out
}

// anyOpen is for how long of the window one alert at least was open.
func anyOpen(alerts []snapshot.Alert, w snapshot.Window) time.Duration {
	sorted := slices.Clone(alerts)
	slices.SortFunc(sorted, func(a, b snapshot.Alert) int { return a.CreatedAt.Compare(b.CreatedAt) })
	var total time.Duration
	covered := w.From
	for _, a := range sorted {
		from, to := span(a, w)
		if from.Before(covered) {
			from = covered
		}
		if to.After(from) {
			total += to.Sub(from)
			covered = to
		}
	}
	return total
}

// median is the middle one, or the mean of the two in the middle; 0 of none.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	half := len(d) / 2
	if len(d)%2 == 1 {
		return d[half]
	}
	return d[half-1] + (d[half]-d[half-1])/2
}

// Limits of a series: a window of up to hourly is cut into hours, and one that would have more
// than mostBuckets is not drawn.
const (
	hourly      = 48 * time.Hour
	mostBuckets = 62
)

// series counts the alerts by bucket: active where the firing window touches the
// bucket, resolved where the end lies in it.
func series(doc snapshot.Document, alerts []snapshot.Alert, w snapshot.Window) *AlertSeries {
	grid := timegrid.Window{From: w.From, To: w.To, Size: timegrid.Day}
	length := w.To.Sub(w.From)
	if length <= hourly {
		grid.Size = timegrid.Hour
	}
	if length <= 0 || length > mostBuckets*timegrid.Day.Width() || len(doc.Instances) == 0 {
		return nil
	}
	s := &AlertSeries{Size: grid.Size}
	for _, start := range grid.Starts() {
		s.Buckets = append(s.Buckets, AlertBucket{Start: start, Monitored: start.Add(grid.Size.Width()).After(doc.Instances[0].CreatedAt)})
	}
	for _, a := range alerts {
		if w.Within(a.ResolvedAt) {
			s.Buckets[grid.Index(*a.ResolvedAt)].Resolved++
		}
		rank := alertRank(a.Severity)
		if !a.FirstTriggeredAt.Before(w.To) || a.LastTriggeredAt.Before(w.From) || rank == len(AlertSeverities) {
			continue
		}
		first, last := 0, len(s.Buckets)-1
		if a.FirstTriggeredAt.After(w.From) {
			first = grid.Index(a.FirstTriggeredAt)
		}
		if a.LastTriggeredAt.Before(w.To) {
			last = grid.Index(a.LastTriggeredAt)
		}
		for i := first; i <= last; i++ {
			s.Buckets[i].Active[rank]++
		}
	}
	return s
}
