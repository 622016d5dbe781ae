package httpapi

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/testing/pgtest"
)

// TestNoTableNamesAnErasedMember looks through the whole database, whoever's
// table it is, for a member who did all that leaves a name or an address.
func TestNoTableNamesAnErasedMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "zoe.quine@ours.example"
	zoe, _, err := w.deps.Commands.AddMember(t.Context(), usecase.Actor{OrganizationID: w.ours.organization.ID, Component: "cli"},
		commands.NewMember{Email: email, Name: "Zoe Quine", Role: organization.Member, Password: goodPassword})
	must(t, err)
	signIn := func(password string) answer {
		return w.do(request{method: "POST", path: "/api/v1/session", json: map[string]any{"email": email, "password": password}, header: map[string]string{"User-Agent": "Quine/1.0"}})
	}
	signIn("not hers").problem(401, "invalid_credentials")
	her := person{Member: zoe, session: signIn(goodPassword).is(200).cookie("__Host-muster_session").Value}
	w.post(her, "/api/v1/api-tokens", map[string]any{"name": "Quine's laptop", "scopes": []string{"reports:read"}}).is(201)
	w.view(her, "Quine's servers", false)
	_, err = w.deps.Commands.JoinByIdentity(t.Context(), accounts.Identity{Issuer: "https://login.ours.example", Subject: "quine"}, email, accounts.Client{})
	must(t, err)
	hers, another := w.instance(w.ours, "hers"), w.instance(w.ours, "another")
	ask := func(as person, instance uuid.UUID) answer {
		return w.do(request{method: "POST", path: "/api/v1/reports", as: as, header: map[string]string{"Idempotency-Key": "k"},
			json: map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []any{instance}}}})
	}
	ask(her, hers).is(202)
	ask(w.ours.member, hers).is(200) // her report, and so the answer names her
	ask(w.ours.admin, another).is(202)
	for _, viewed := range []string{"/api/v1/exports", "/api/v1/audit-events"} {
		w.get(w.ours.admin, viewed).is(200)
	}

	before := slices.Sorted(maps.Keys(pgtest.Mentions(t, w.deps.DB, "quine")))
	if diff := cmp.Diff([]string{"public.idempotency_keys", "public.member_identities", "public.members", "public.sessions", "public.tokens", "public.views"}, before); diff != "" {
		t.Fatalf("tables that name her before (-want +got):\n%s", diff)
	}
	w.do(request{method: "DELETE", path: memberPath(her), as: w.ours.admin}).is(204)
	for table, rows := range pgtest.Mentions(t, w.deps.DB, "quine") {
		t.Errorf("%s names her still: %q", table, rows)
	}
	if again := ask(w.ours.admin, another).is(202).Header().Get("Idempotency-Replayed"); again != "true" {
		t.Error("an answer that does not name her is gone, too")
	}
	ask(w.ours.member, hers).is(200) // without a kept answer it joins the report again
}
