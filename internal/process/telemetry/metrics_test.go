package telemetry_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"muster/internal/process/telemetry"
)

func scrape(t *testing.T, m *telemetry.Metrics) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Code, w.Body.String()
}

func TestScrapeReadsGaugesLive(t *testing.T) {
	t.Parallel()
	m := telemetry.New("v1", "abc")
	lag := 3.0
	m.Gauge("muster_projection_lag_events", "Events behind.", []string{"projection"},
		func(context.Context) ([]telemetry.Reading, error) {
			return []telemetry.Reading{{Labels: []string{"audit"}, Value: lag}}, nil
		})
	for _, want := range []string{`muster_projection_lag_events{projection="audit"} 3`, `muster_build_info{commit="abc",version="v1"} 1`} {
		if _, body := scrape(t, m); !strings.Contains(body, want) {
			t.Errorf("scrape lacks %q", want)
		}
	}
	lag = 0
	if _, body := scrape(t, m); !strings.Contains(body, `{projection="audit"} 0`) {
		t.Error("the second scrape does not show the figure as it is now")
	}
}

func TestAFailedGaugeDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	m := telemetry.New("v1", "abc")
	m.Gauge("muster_broken", "Cannot be read.", nil, func(context.Context) ([]telemetry.Reading, error) {
		return nil, errors.New("no database")
	})
	_, body := scrape(t, m)
	if !strings.Contains(body, "muster_build_info") {
		t.Error("one failed reading took the others with it")
	}
	if strings.Contains(body, "muster_broken ") {
		t.Error("a figure that cannot be read is served all the same")
	}
}
