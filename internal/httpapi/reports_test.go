package httpapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func TestRequestListAndRead(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instance := w.instance(w.ours, "orders-01")
	body := map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []uuid.UUID{instance}}, "recipientIds": []uuid.UUID{w.ours.viewer.ID}}

	created := w.post(w.ours.member, "/api/v1/reports", body).is(202)
	var made struct {
		Reused bool
		Report struct {
			ID, Status, ScopeLabel string
			RecipientCount         int
			DownloadURL            *string
		}
	}
	created.decode(&made)
	if made.Reused || made.Report.Status != "Queued" || made.Report.RecipientCount != 2 || made.Report.ScopeLabel == "" {
		t.Errorf("made %+v", made)
	}
	if got, want := created.Header().Get("Location"), "/api/v1/reports/"+made.Report.ID; got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	if created.Header().Get("Retry-After") == "" || created.Header().Get("X-Api-Stability") != "beta" || created.Header().Get("X-Muster-Lagging") != "" {
		t.Errorf("headers %v", created.Header())
	}

	again := w.post(w.ours.auditorAsMember(w), "/api/v1/reports", body).is(200)
	if o := again.object(); o["reused"] != true || again.Header().Get("Content-Location") != "/api/v1/reports/"+made.Report.ID {
		t.Errorf("second request: %v %v", o, again.Header())
	}

	one := w.get(w.ours.viewer, "/api/v1/reports/"+made.Report.ID).is(200).object()
	for _, r := range one["recipients"].([]any) {
		if r.(map[string]any)["email"] != nil {
			t.Error("a viewer sees an address")
		}
	}
	page := w.get(w.ours.viewer, "/api/v1/reports?kind=Security").is(200).object()
	if n := page["page"].(map[string]any)["totalItems"]; n != 1.0 {
		t.Errorf("totalItems %v", n)
	}
	if w.get(w.ours.viewer, "/api/v1/reports?kind=DataInventory").is(200).object()["page"].(map[string]any)["totalItems"] != 0.0 {
		t.Error("another kind's list is not empty")
	}
	for query, want := range map[string]float64{
		"instanceId=" + instance.String():                                     1,
		"instanceId=" + uuid.NewString():                                      0,
		"instanceId=" + w.instance(w.theirs, "theirs").String():               0,
		"instanceId=" + instance.String() + "&status=Ready":                   0,
		"instanceId=" + uuid.NewString() + "&instanceId=" + instance.String(): 1,
	} {
		if n := w.get(w.ours.viewer, "/api/v1/reports?kind=Security&"+query).is(200).object()["page"].(map[string]any)["totalItems"]; n != want {
			t.Errorf("%s: totalItems %v", query, n)
		}
	}
	w.get(w.theirs.viewer, "/api/v1/reports?kind=Security&instanceId=x").is(400)
}

// auditorAsMember is a second member who may create.
func (t tenant) auditorAsMember(w *world) person {
	w.t.Helper()
	return w.person(t.organization, "member", "second@"+t.organization.Name+".example")
}

func TestPollingIsCheapAndSeesEveryChange(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.requested(w.ours, w.ours.member)
	list := func(as person, tag string) answer {
		return w.do(request{method: "GET", path: "/api/v1/reports?kind=Security", as: as, header: map[string]string{"If-None-Match": tag}})
	}
	first := list(w.ours.member, "").is(200)
	tag := first.Header().Get("ETag")
	if tag == "" || tag[:2] != "W/" || first.Header().Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("headers %v", first.Header())
	}
	if same := list(w.ours.member, tag).is(304); same.Body.Len() > 0 {
		t.Error("304 with a body")
	}
	w.ready(w.ours, id, pdfText)
	after := list(w.ours.member, tag).is(200)
	if viewer := list(w.ours.viewer, after.Header().Get("ETag")); viewer.Code != 200 {
		t.Error("a viewer, who may not download it, has the member's ETag")
	}
}

func TestPagesLinkToEachOther(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	for range 3 {
		w.requested(w.ours, w.ours.member)
	}
	path := "/api/v1/reports?kind=Security&pageSize=1&status=Queued&page="
	second := w.get(w.ours.member, path+"2").is(200)
	want := `</api/v1/reports?kind=Security&page=3&pageSize=1&status=Queued>; rel="next", </api/v1/reports?kind=Security&page=1&pageSize=1&status=Queued>; rel="prev"`
	if diff := cmp.Diff(want, second.Header().Get("Link")); diff != "" {
		t.Error(diff)
	}
	page := second.object()["page"]
	if diff := cmp.Diff(map[string]any{"number": 2.0, "size": 1.0, "totalItems": 3.0, "totalPages": 3.0}, page); diff != "" {
		t.Error(diff)
	}
	past := w.get(w.ours.member, path+"9").is(200)
	if items := past.object()["items"].([]any); len(items) != 0 {
		t.Errorf("a page past the end has %d items", len(items))
	}
}
