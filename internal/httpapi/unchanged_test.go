package httpapi

import (
	"strings"
	"testing"
	"time"

	"muster/commands/alerting"
	"muster/commands/inventory"
)

// TestAnUnchangedAnswerHasNoBody: a page that asks again learns that it has the counts, the connections, the
// alerts and their history already, whenever these were read. It is sent them as soon as there is something
// new.
func TestAnUnchangedAnswerHasNoBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.within(time.Hour, 2*time.Second)
	ids := w.fed(w.ours, inventory.Item{ExternalID: "orders", CreatedAt: w.ago(day), Databases: []inventory.Database{database("shop", w.ago(day))}})
	w.raised(w.ours, alerting.Item{ExternalID: "open", CreatedAt: w.ago(2 * time.Hour), Instance: to("orders")})
	w.measuredNow(w.ours, ids["orders"], ids["orders/shop"])
	from, until := w.ago(3*time.Hour).Format(time.RFC3339), w.ago(0).Format(time.RFC3339)
	paths := []string{overviewPath, metricsPath + "connections", alertsPath, alertHistoryPath + windowed(from, until, "1h")}
	tags := map[string]string{}
	ask := func(path, tag string) answer {
		return w.do(request{method: "GET", path: path, as: w.ours.viewer, header: map[string]string{"If-None-Match": tag}})
	}
	for _, path := range paths {
		first := w.get(w.ours.viewer, path).is(200)
		if tags[path] = first.Header().Get("ETag"); !strings.HasPrefix(tags[path], `W/"r-`) {
			t.Errorf("%s has tag %q", path, tags[path])
		}
	}
	w.clock.Advance(2 * time.Second)
	for _, path := range paths {
		again := ask(path, tags[path]).is(304)
		if again.Body.Len() > 0 || again.Header().Get("ETag") != tags[path] || again.Header().Get("Cache-Control") != "private, no-cache" ||
			!strings.Contains(strings.Join(again.Header().Values("Vary"), ","), "Cookie") {
			t.Errorf("%s: %d bytes, %v", path, again.Body.Len(), again.Header())
		}
	}
	w.raised(w.ours, alerting.Item{ExternalID: "another", CreatedAt: w.ago(time.Hour), Instance: to("orders")})
	w.measuredNow(w.ours, ids["orders"], ids["orders/shop"])
	for _, path := range paths {
		if news := ask(path, tags[path]).is(200); news.Header().Get("ETag") == tags[path] {
			t.Errorf("%s: what is new has the tag of what was", path)
		}
	}
}
