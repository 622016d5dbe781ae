package httpapi

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestAPreviewOfASummaryMatchesTheReport: for everybody who reads reports, about their own servers alone. Other
// kinds have no preview, and a foreign server looks like an unknown one.
func TestAPreviewOfASummaryMatchesTheReport(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instance := w.instance(w.ours, "orders-01")
	to := time.Now().UTC().Truncate(time.Minute)
	body := func(kind string, ids ...uuid.UUID) map[string]any {
		return map[string]any{"kind": kind, "scope": map[string]any{"instanceIds": append([]uuid.UUID{}, ids...), "from": to.AddDate(0, 0, -7), "to": to}}
	}
	got := w.post(w.ours.viewer, "/api/v1/reports/preview", body("AlertsSummary", instance)).is(200).object()
	if got["state"] == "" || got["lead"] == "" || len(got["figures"].([]any)) != 4 || len(got["sections"].([]any)) == 0 || got["scopeLabel"] == "" {
		t.Errorf("the preview is %v", got)
	}
	w.post(w.ours.viewer, "/api/v1/reports/preview", body("AlertsSummary")).is(200)
	refused := w.post(w.ours.member, "/api/v1/reports/preview", map[string]any{"kind": "Security"}).is(422)
	if refused.object()["errors"] == nil {
		t.Error("a kind without a preview is refused without a reason")
	}
	foreign := w.post(w.ours.member, "/api/v1/reports/preview", body("AlertsSummary", w.instance(w.theirs, "theirs"))).is(422).object()
	unknown := w.post(w.ours.member, "/api/v1/reports/preview", body("AlertsSummary", uuid.New())).is(422).object()
	if foreign["code"] != unknown["code"] || foreign["detail"] != unknown["detail"] {
		t.Errorf("a foreign server: %v; an unknown one: %v", foreign, unknown)
	}
	if n := w.get(w.ours.member, "/api/v1/reports?kind=AlertsSummary").is(200).object()["page"].(map[string]any)["totalItems"]; n != 0.0 {
		t.Errorf("previews made %v reports", n)
	}
}

// TestAPreviewOfADigestMatchesItsMail, with its sections, for people who belong to a part of the organization,
// too.
func TestAPreviewOfADigestMatchesItsMail(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instance := w.instance(w.ours, "orders-01")
	to := time.Now().UTC().Truncate(time.Minute)
	for _, ids := range [][]uuid.UUID{{}, {instance}} {
		body := map[string]any{"kind": "DailyDigest", "scope": map[string]any{"instanceIds": ids, "from": to.AddDate(0, 0, -1), "to": to}}
		got := w.post(w.ours.viewer, "/api/v1/reports/preview", body).is(200).object()
		if got["lead"] == "" || len(got["figures"].([]any)) != 4 || len(got["sections"].([]any)) != 7 {
			t.Errorf("the preview is %v", got)
		}
	}
	wide := map[string]any{"kind": "DailyDigest", "scope": map[string]any{"from": to.AddDate(0, 0, -2), "to": to}}
	w.post(w.ours.viewer, "/api/v1/reports/preview", wide).is(422)
}
