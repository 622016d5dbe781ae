package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/domain/alert"
	"muster/internal/httpapi/api"
)

const alertHistoryPath = alertsPath + "/raised-resolved-history"

// windowed is the query of a series.
func windowed(from, to, size string) string {
	return "?" + url.Values{"from": {from}, "to": {to}, "bucketSize": {size}}.Encode()
}

func onThatDay(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339Nano, text)
	must(t, err)
	return v.UTC()
}

// counts are the two series, bucket by bucket, as active/resolved; - is null.
func (a answer) counts() string {
	a.t.Helper()
	var h struct {
		BucketStarts []time.Time
		Series       struct{ Active, Resolved []*int }
	}
	a.is(200).decode(&h)
	if len(h.Series.Active) != len(h.BucketStarts) || len(h.Series.Resolved) != len(h.BucketStarts) {
		a.t.Fatalf("%d buckets, %d and %d values", len(h.BucketStarts), len(h.Series.Active), len(h.Series.Resolved))
	}
	show := func(n *int) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	var words []string
	for i := range h.BucketStarts {
		words = append(words, show(h.Series.Active[i])+"/"+show(h.Series.Resolved[i]))
	}
	return strings.Join(words, " ")
}

// TestAlertHistory holds readings 1 to 4, 9 and 10 over HTTP. Weeks start on a
// Monday: 2024-03-04 is one.
func TestAlertHistory(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	m := func(text string) time.Time { return onThatDay(t, text) }
	ids := w.fed(w.ours,
		inventory.Item{ExternalID: "orders-1", Name: "orders", CreatedAt: m("2024-03-05T06:00:00Z"), Active: to(false), Databases: []inventory.Database{database("d", m("2024-03-05T06:00:00Z"))}},
		inventory.Item{ExternalID: "orders-2", Name: "orders", CreatedAt: m("2024-03-07T00:00:00Z")},
		inventory.Item{ExternalID: "billing", CreatedAt: m("2024-03-08T00:00:01Z")},
		inventory.Item{ExternalID: "removed", CreatedAt: m("2024-03-01T00:00:00Z")},
	)
	theirs := w.fed(w.theirs, inventory.Item{ExternalID: "theirs", CreatedAt: m("2024-01-01T00:00:00Z")})
	w.raised(w.theirs, alerting.Item{ExternalID: "x", FirstTriggeredAt: m("2024-03-06T00:00:00Z"), Instance: to("theirs")})
	w.raised(w.ours,
		// Once, on an edge: it belongs to the bucket that begins there.
		alerting.Item{ExternalID: "once", FirstTriggeredAt: m("2024-03-06T00:00:00Z"), ResolvedAt: to(m("2024-03-07T00:00:00Z")), Instance: to("orders-1")},
		// Over three days, up to the edge of the fourth, which it touches.
		alerting.Item{ExternalID: "long", FirstTriggeredAt: m("2024-03-06T12:00:00Z"), LastTriggeredAt: m("2024-03-08T00:00:00Z"), ResolvedAt: to(m("2024-03-09T00:00:00Z")), State: alert.ResolvedState, Database: to("d")},
		// Open, and not stretched to now.
		alerting.Item{ExternalID: "open", FirstTriggeredAt: m("2024-03-08T10:00:00Z"), LastTriggeredAt: m("2024-03-08T11:00:00Z"), Instance: to("billing")},
		alerting.Item{ExternalID: "muted", FirstTriggeredAt: m("2024-03-06T00:00:00Z"), ResolvedAt: to(m("2024-03-07T00:00:00Z")), Muted: to(true), Instance: to("orders-1")},
		alerting.Item{ExternalID: "of the organization", FirstTriggeredAt: m("2024-03-10T00:00:00Z")},
		alerting.Item{ExternalID: "of a removed one", FirstTriggeredAt: m("2024-03-07T00:00:00Z"), Instance: to("removed")},
	)
	w.fed(w.ours, inventory.Item{ExternalID: "removed", CreatedAt: m("2024-03-01T00:00:00Z"), Removed: true})
	days := windowed("2024-03-04T00:00:00Z", "2024-03-11T00:00:00Z", "1d")
	id := func(key string) string { return "&instanceId=" + ids[key].String() }
	for name, c := range map[string]struct{ query, want, started string }{
		"the organization":         {days, "-/- 0/0 2/0 2/1 2/0 0/1 1/0", "2024-03-05T06:00:00Z"},
		"by name, which two are":   {days + "&instanceName=orders", "-/- 0/0 2/0 1/1 1/0 0/1 0/0", "2024-03-05T06:00:00Z"},
		"one that is inactive":     {days + id("orders-1"), "-/- 0/0 2/0 1/1 1/0 0/1 0/0", "2024-03-05T06:00:00Z"},
		"begun on an edge":         {days + id("orders-2"), "-/- -/- -/- 0/0 0/0 0/0 0/0", "2024-03-07T00:00:00Z"},
		"begun behind an edge":     {days + id("billing"), "-/- -/- -/- -/- 1/0 0/0 0/0", "2024-03-08T00:00:01Z"},
		"names":                    {days + "&instanceName=billing&instanceName=nobody", "-/- -/- -/- -/- 1/0 0/0 0/0", "2024-03-08T00:00:01Z"},
		"a removed one":            {days + id("removed"), "-/- -/- -/- -/- -/- -/- -/-", ""},
		"a removed one's name":     {days + "&instanceName=removed", "-/- -/- -/- -/- -/- -/- -/-", ""},
		"nobody's name":            {days + "&instanceName=nobody", "-/- -/- -/- -/- -/- -/- -/-", ""},
		"another's":                {days + "&instanceId=" + theirs["theirs"].String(), "-/- -/- -/- -/- -/- -/- -/-", ""},
		"weeks from Monday":        {windowed("2024-03-04T00:00:00Z", "2024-03-18T00:00:00Z", "1w"), "5/2 0/0", "2024-03-05T06:00:00Z"},
		"hours, cut at the window": {windowed("2024-03-08T10:59:59Z", "2024-03-08T12:30:00Z", "1h") + id("billing"), "1/0 1/0 0/0", "2024-03-08T00:00:01Z"},
		"cut behind its end":       {windowed("2024-03-08T11:00:00.000001Z", "2024-03-08T12:30:00Z", "1h") + id("billing"), "0/0 0/0", "2024-03-08T00:00:01Z"},
		"cut before its beginning": {windowed("2024-03-08T09:00:00Z", "2024-03-08T10:00:00Z", "1h") + id("billing"), "0/0", "2024-03-08T00:00:01Z"},
		"cut behind a beginning":   {windowed("2024-03-08T09:00:00Z", "2024-03-08T10:00:00.000001Z", "1h") + id("billing"), "0/0 1/0", "2024-03-08T00:00:01Z"},
		"resolved on the first":    {windowed("2024-03-07T00:00:00Z", "2024-03-07T00:01:00Z", "1m") + id("orders-1"), "1/1", "2024-03-05T06:00:00Z"},
		"resolved before it":       {windowed("2024-03-07T00:00:00.000001Z", "2024-03-07T00:01:00Z", "1m") + id("orders-1"), "1/0", "2024-03-05T06:00:00Z"},
		"resolved on the last":     {windowed("2024-03-06T23:59:00Z", "2024-03-07T00:00:00Z", "1m") + id("orders-1"), "1/0", "2024-03-05T06:00:00Z"},
	} {
		a := w.get(w.ours.viewer, alertHistoryPath+c.query)
		if got := a.counts(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		started, _ := a.object()["monitoringStartedAt"].(string)
		if started != c.started {
			t.Errorf("%s: monitored since %q, want %q", name, started, c.started)
		}
	}
	if got := w.get(w.ours.viewer, "/api/v1/organization").is(200).object()["monitoringStartedAt"]; got != "2024-03-05T06:00:00Z" {
		t.Errorf("the organization is monitored since %v", got)
	}
	w.alertContributors(m("2024-03-04T00:00:00Z"), "-/- 0/0 2/0 2/1 2/0 0/1 1/0")
	removed := w.behindAlerts(m("2024-03-07T00:00:00Z"), "series=active&by=alert&limit=1")
	if len(removed.Items) != 1 || removed.Others.Count != 1 || *removed.Others.Value != 1 || *removed.Others.Share != 0.5 {
		t.Errorf("behind the alerts of the 7th: %+v", removed)
	}
	instances := w.behindAlerts(m("2024-03-07T00:00:00Z"), "series=active&by=instance").Items
	if len(instances) != 2 || !slices.ContainsFunc(instances, func(c api.Contributor) bool {
		return *c.Instance == api.ContributingInstance{Id: ids["removed"], Name: "removed", Engine: c.Instance.Engine, Removed: true}
	}) {
		t.Errorf("the instances behind the alerts of the 7th: %+v", instances)
	}
	window := url.Values{"from": {"2024-03-04T00:00:00Z"}, "to": {"2024-03-11T00:00:00Z"}, "series": {"active"}, "by": {"database"}}
	w.get(w.ours.viewer, alertHistoryPath+"/contributors?"+window.Encode()).problem(400, "by_not_available")
}

// behindAlerts asks who is behind the alert history of a day.
func (w *world) behindAlerts(day time.Time, query string) api.Contributors {
	w.t.Helper()
	window := url.Values{"from": {day.Format(time.RFC3339)}, "to": {day.Add(24 * time.Hour).Format(time.RFC3339)}}
	return w.get(w.ours.viewer, alertHistoryPath+"/contributors?"+window.Encode()+"&"+query).shares()
}

// alertContributors holds who is behind each count of days to the count, item by item.
func (w *world) alertContributors(first time.Time, counts string) {
	w.t.Helper()
	for i, of := range strings.Fields(counts) {
		active, resolved, _ := strings.Cut(of, "/")
		for series, want := range map[string]string{"active": active, "resolved": resolved} {
			for _, by := range []string{"alert", "instance"} {
				for _, limit := range []string{"1", "100"} {
					c := w.behindAlerts(first.Add(time.Duration(i)*24*time.Hour), "series="+series+"&by="+by+"&limit="+limit)
					got := "-"
					if c.Total != nil {
						sum := 0.0
						for _, item := range c.Items {
							sum += item.Value
						}
						if c.Others.Value != nil {
							sum += *c.Others.Value
						}
						got = fmt.Sprint(*c.Total)
						if sum != *c.Total {
							w.t.Errorf("%s by %s of day %d: items and others come to %v, total is %v", series, by, i, sum, *c.Total)
						}
					}
					if got != want {
						w.t.Errorf("%s by %s of day %d: %s, want %s", series, by, i, got, want)
					}
				}
			}
		}
	}
}

// TestAnAnswerRepeatsItsWindow in UTC, clamped to now, with its buckets.
func TestAnAnswerRepeatsItsWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.clock.Now()
	hour := now.Truncate(time.Hour)
	if now.Equal(hour) {
		w.clock.Advance(time.Minute)
		now = w.clock.Now()
	}
	rfc := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	type echo struct {
		From, To, BucketSize string
		BucketStarts         []string
		LastBucketPartial    bool
		GeneratedAt          string
	}
	for name, c := range map[string]struct {
		from, to time.Time
		want     echo
	}{
		"to in the future is now": {hour.Add(-time.Hour), now.Add(30 * day),
			echo{rfc(hour.Add(-time.Hour)), rfc(now), "1h", []string{rfc(hour.Add(-time.Hour)), rfc(hour)}, true, rfc(now)}},
		"to on an edge of the past": {hour.Add(-time.Hour), hour,
			echo{rfc(hour.Add(-time.Hour)), rfc(hour), "1h", []string{rfc(hour.Add(-time.Hour))}, false, rfc(now)}},
		"within the current bucket": {hour.Add(time.Second - time.Hour), hour.Add(time.Microsecond),
			echo{rfc(hour.Add(time.Second - time.Hour)), rfc(hour.Add(time.Microsecond)), "1h", []string{rfc(hour.Add(-time.Hour)), rfc(hour)}, true, rfc(now)}},
		"from another zone": {hour.Add(-2 * time.Hour).In(time.FixedZone("", 5*3600+1800)), hour.Add(-time.Hour - time.Minute).In(time.FixedZone("", -3*3600)),
			echo{rfc(hour.Add(-2 * time.Hour)), rfc(hour.Add(-time.Hour - time.Minute)), "1h", []string{rfc(hour.Add(-2 * time.Hour))}, false, rfc(now)}},
	} {
		a := w.get(w.ours.viewer, alertHistoryPath+windowed(c.from.Format(time.RFC3339Nano), c.to.Format(time.RFC3339Nano), "1h")).is(200)
		var got echo
		a.decode(&got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if a.Header().Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: headers %v", name, a.Header())
		}
	}
}

// TestWindowRefusals: what cannot be read is 400 and what breaks a rule 422, all of
// it at once.
func TestWindowRefusals(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	now := w.clock.Now()
	rfc := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	many := strings.Repeat("&instanceName=x", 501)
	for name, c := range map[string]struct {
		query  string
		status int
		code   string
		places []string
	}{
		"nothing":               {"", 400, "missing_parameter", []string{"query from missing_parameter", "query to missing_parameter", "query bucketSize missing_parameter"}},
		"another size":          {windowed(rfc(-day), rfc(0), "5m"), 400, "invalid_bucket_size", []string{"query bucketSize invalid_bucket_size"}},
		"an empty size":         {windowed(rfc(-day), rfc(0), ""), 400, "invalid_bucket_size", []string{"query bucketSize invalid_bucket_size"}},
		"a size in capitals":    {windowed(rfc(-day), rfc(0), "1H"), 400, "invalid_bucket_size", []string{"query bucketSize invalid_bucket_size"}},
		"two sizes":             {windowed(rfc(-day), rfc(0), "1h") + "&bucketSize=1d", 400, "invalid_bucket_size", []string{"query bucketSize invalid_bucket_size"}},
		"names and ids":         {windowed(rfc(-day), rfc(0), "1h") + "&instanceName=x&instanceId=" + uuid.NewString(), 400, "conflicting_parameters", []string{"query instanceName conflicting_parameters", "query instanceId conflicting_parameters"}},
		"unreadable, at once":   {windowed("yesterday", "", "1y") + "&instanceId=&instanceName=&page=1", 400, "invalid_parameter", []string{"query from invalid_parameter", "query to invalid_parameter", "query bucketSize invalid_bucket_size", "query instanceName invalid_parameter", "query instanceId invalid_parameter", "query instanceName conflicting_parameters", "query instanceId conflicting_parameters", "query page unknown_parameter"}},
		"a time without a zone": {windowed("2024-03-04T00:00:00", rfc(0), "1h"), 400, "invalid_parameter", []string{"query from invalid_parameter"}},
		"the year 10000":        {windowed(rfc(-day), "9999-12-31T23:59:59-01:00", "1h"), 400, "invalid_parameter", []string{"query to invalid_parameter"}},
		"from is to":            {windowed(rfc(-day), rfc(-day), "1h"), 422, "invalid_window", []string{"query from invalid_window"}},
		"less than PostgreSQL":  {windowed("2024-03-04T00:00:00.0000001Z", "2024-03-04T00:00:00.0000009Z", "1m"), 422, "invalid_window", []string{"query from invalid_window"}},
		"from now on":           {windowed(rfc(0), rfc(day), "1h"), 422, "invalid_window", []string{"query from invalid_window"}},
		"in the future":         {windowed(rfc(time.Second), rfc(day), "1h"), 422, "window_in_future", []string{"query from window_in_future"}},
		"empty in the future":   {windowed(rfc(day), rfc(time.Hour), "1h") + many, 422, "invalid_window", []string{"query from invalid_window", "query from window_in_future", "query instanceName too_many_instances"}},
		"11,001 minutes":        {windowed(now.Truncate(time.Minute).Add(-11_001*time.Minute).Format(time.RFC3339), now.Truncate(time.Minute).Format(time.RFC3339), "1m") + many, 422, "too_many_buckets", []string{"query to too_many_buckets", "query instanceName too_many_instances"}},
		"all of history":        {windowed("0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "1w"), 422, "too_many_buckets", []string{"query to too_many_buckets"}},
	} {
		p := w.get(w.ours.viewer, alertHistoryPath+c.query).problem(c.status, c.code)
		if diff := cmp.Diff(c.places, p.places()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	minute := now.Truncate(time.Minute)
	minutes := func(from time.Duration, to time.Time) answer {
		return w.get(w.ours.viewer, alertHistoryPath+windowed(to.Add(-from).Format(time.RFC3339), to.Format(time.RFC3339), "1m"))
	}
	if a := minutes(11_001*time.Minute, minute).is(422); !strings.Contains(a.Body.String(), `"params":{"buckets":11001,"max":11000}`) {
		t.Errorf("told %s", a.Body)
	}
	for name, got := range map[string]answer{
		"whole minutes":         minutes(11_000*time.Minute, minute),
		"cut ones at both ends": minutes(10_999*time.Minute, minute.Add(-30*time.Second)),
	} {
		if n := strings.Count(got.counts(), "-/-"); n != 11_000 {
			t.Errorf("%s: %d buckets", name, n)
		}
	}
	// The first minutes that can be written are as good a window as any.
	if got := w.get(w.ours.viewer, alertHistoryPath+windowed("0001-01-01T00:00:00Z", "0001-01-01T00:02:00Z", "1m")).counts(); got != "-/- -/-" {
		t.Errorf("in the first minutes: %s", got)
	}
}
