package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestErasure: who is erased is gone from whatever Muster says of a report they
// asked for; the report's inputs are, too, and the PDF can still be proven.
func TestErasure(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.must(t, "admin", "create", "--email", "bo@acme.example", "--name", "Bo Anders", "--password-file", passwordFile(t))
	bo := h.as(t, h.server, "bo@acme.example")
	his, hers := bo.request(t, security(h.live)), h.ana.request(t, scorecard(h.live, 0))
	bo.await(t, his, "Ready")
	h.ana.await(t, hers, "Ready")
	_, path := bo.download(t, his)
	if said := h.must(t, "verify", path); !strings.Contains(said, "Bo Anders") {
		t.Fatalf("it does not say who asked:\n%s", said)
	}
	inputs := h.stored(t, his, theInputs)

	var signedIn struct{ Member struct{ ID uuid.UUID } }
	bo.get(t, "/api/v1/session", &signedIn)
	h.ana.call(t, http.StatusNoContent, http.MethodDelete, "/api/v1/members/"+signedIn.Member.ID.String(), nil, nil)
	if got, err := bo.try(t.Context(), http.MethodGet, "/api/v1/reports?kind=Security", nil); err != nil || got.status != http.StatusUnauthorized {
		t.Errorf("his token still works: %d, %v", got.status, err)
	}
	eventually(t, "the inputs are erased", func() bool { return gone(inputs) && h.rebuild(t, his).status == 4 })
	if said := h.rebuild(t, his).out; !strings.Contains(said, "by rule member_erased") {
		t.Errorf("it says %s", said)
	}
	if got := h.rebuild(t, hers); got.status != 0 {
		t.Errorf("a report that does not name him: %d %s%s", got.status, got.out, got.errors)
	}
	said := h.must(t, "verify", path)
	if strings.Contains(said, "Bo Anders") || strings.Contains(said, "bo@acme") || !strings.Contains(said, "by a former member") {
		t.Errorf("of the PDF in hand it says\n%s", said)
	}
	for _, at := range []string{"/api/v1/reports?kind=Security", "/api/v1/reports/" + his.String(), "/api/v1/reports/" + his.String() + "/events", "/api/v1/audit-events", "/api/v1/members"} {
		if got := h.ana.get(t, at, nil); strings.Contains(string(got.body), "Bo Anders") || strings.Contains(string(got.body), "bo@acme") {
			t.Errorf("%s still names him: %s", at, got.body)
		}
	}
	h.must(t, "events", "verify")
	h.must(t, "admin", "create", "--email", "bo@acme.example", "--name", "Bo Anders") // his address is free
}
