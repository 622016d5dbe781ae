package httpapi

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/testing/pgtest"
)

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	instance := w.instance(w.ours, "one")
	send := func(as person, key, body string) answer {
		return w.do(request{method: "POST", path: "/api/v1/reports", as: as, body: body, header: map[string]string{"Idempotency-Key": key}})
	}
	body := fmt.Sprintf(`{"kind":"Security","scope":{"instanceIds":[%q]}}`, instance)
	send(w.ours.member, "k", `{"kind":"Security","scope":{"databaseId":"`+uuid.NewString()+`"}}`).problem(422, "database_not_allowed")
	first := send(w.ours.member, "k", body).is(202)
	again := send(w.ours.member, "k", body).is(202)
	if again.Body.String() != first.Body.String() || again.Header().Get("Location") != first.Header().Get("Location") || again.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("replayed: %s %v", again.Body, again.Header())
	}
	send(w.ours.member, "k", body+" ").problem(422, "idempotency_key_reused")
	if other := send(w.ours.admin, "k", body).is(200); other.object()["reused"] != true {
		t.Error("another member's key is taken for mine")
	}
	send(w.ours.member, "ü", body).problem(400, "invalid_parameter")

	_, err := w.deps.DB.Exec(`UPDATE idempotency_keys SET status = NULL WHERE member_id = $1`, w.ours.member.ID)
	must(t, err)
	for left := 30; left > 0; left -= 10 { // its claimant has died
		refused := send(w.ours.member, "k", body)
		refused.problem(409, "idempotency_in_progress")
		if got := refused.Header().Get("Retry-After"); got != strconv.Itoa(left) {
			t.Errorf("%d s before the claim ends the caller is told to wait %s s", left, got)
		}
		w.clock.Advance(10 * time.Second)
	}
	w.clock.Advance(time.Second) // its holder is taken for dead; the report is one all the same
	if taken := send(w.ours.member, "k", body).is(202); taken.Header().Get("Location") != first.Header().Get("Location") {
		t.Error("a second report was made")
	}
	w.clock.Advance(25 * time.Hour)
	var n int
	session, _, err := w.deps.Accounts.StartSession(t.Context(), w.ours.member.ID, accounts.MethodPassword, client0)
	must(t, err)
	send(person{w.ours.member.Member, session}, "k2", body).is(200)
	must(t, w.deps.DB.Get(&n, `SELECT count(*) FROM idempotency_keys`))
	if n != 1 {
		t.Errorf("%d keys are kept after a day", n)
	}
}

// TestATakenOverRequestRunsOnce: the first process died between its write and its answer, or could not give it.
func TestATakenOverRequestRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dsn := pgtest.Shared(t).TCPURL(pgtest.Superuser, "postgres")
	instance := w.instance(w.ours, "one")
	requests := map[string]any{
		"/api/v1/instances": map[string]any{"name": "new", "engine": "postgresql", "dsn": dsn, "separate": true},
		"/api/v1/reports":   map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []uuid.UUID{instance}}},
	}
	for path, body := range requests {
		for how, after := range map[string]func(key string){
			"died": func(key string) {
				w.exec(`UPDATE idempotency_keys SET status = NULL, headers = NULL, body = NULL`)
				w.clock.Advance(claimAge + time.Second)
			},
			"failed": func(key string) {
				w.exec(`UPDATE idempotency_keys SET status = NULL, headers = NULL, body = NULL`)
				k := keyed{server: w.server}
				must(t, w.deps.DB.QueryRow(`SELECT member_id, route, key, claim FROM idempotency_keys WHERE status IS NULL AND route LIKE '%' || $1`, path).
					Scan(&k.member, &k.route, &k.key, &k.claim))
				k.handOver(t.Context())
			},
		} {
			w.exec(`DELETE FROM idempotency_keys`)
			send := func() answer {
				return w.do(request{method: "POST", path: path, as: w.again(w.ours.admin), json: body, header: map[string]string{"Idempotency-Key": how}})
			}
			first := send()
			id := uuid.MustParse(first.Header().Get("Location")[len(path)+1:])
			if path == "/api/v1/reports" { // worked off meanwhile: no longer one to join
				w.ready(w.ours, id, pdfText)
			}
			after(how)
			again := send().is(first.Code)
			if again.Header().Get("Location") != first.Header().Get("Location") || again.Header().Get("Idempotency-Replayed") != "" {
				t.Errorf("%s, %s: made %s and then %s, %v", path, how, first.Header().Get("Location"), again.Header().Get("Location"), again.Header())
			}
		}
	}
	var made int
	must(t, w.deps.DB.Get(&made, `SELECT count(*) FROM assessment_targets`))
	if made != 2 {
		t.Errorf("%d servers were registered by two requests", made)
	}
}

// TestConcurrentRequestsWithOneKeyRunOnce: of the same request, sent several times at the same moment, one
// runs. The others are told so or get its answer.
func TestConcurrentRequestsWithOneKeyRunOnce(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instance := w.instance(w.ours, "one")
	send := func() answer {
		return w.do(request{method: "POST", path: "/api/v1/reports", as: w.ours.member, header: map[string]string{"Idempotency-Key": "k"},
			json: map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []uuid.UUID{instance}}}})
	}
	answers := make([]answer, 8)
	var hands sync.WaitGroup
	for i := range answers {
		hands.Go(func() { answers[i] = send() })
	}
	hands.Wait()
	first := 0
	for _, a := range answers {
		switch {
		case a.Code == 202 && a.Header().Get("Idempotency-Replayed") == "":
			first++
		case a.Code == 409:
			a.problem(409, "idempotency_in_progress")
			if a.Header().Get("Retry-After") == "" {
				t.Error("nobody says when to ask again")
			}
		case a.Code != 202:
			t.Errorf("%d: %s", a.Code, a.Body)
		}
	}
	if first != 1 {
		t.Errorf("%d of them ran", first)
	}
	if again := send().is(202); again.Header().Get("Idempotency-Replayed") != "true" {
		t.Error("the answer was not kept")
	}
}

// TestAKeyIsItsCallersOwn: what a session was answered is no token's to hear, and
// nobody hears it who may no longer ask.
func TestAKeyIsItsCallersOwn(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	instance := w.instance(w.ours, "one")
	send := func(as person, token string) answer {
		return w.do(request{method: "POST", path: "/api/v1/reports", as: as, token: token, header: map[string]string{"Idempotency-Key": "k"},
			json: map[string]any{"kind": "Security", "scope": map[string]any{"instanceIds": []uuid.UUID{instance}}}})
	}
	replayed := func(a answer) bool { return a.Header().Get("Idempotency-Replayed") == "true" }
	send(w.ours.member, "").is(202)
	if !replayed(send(w.again(w.ours.member), "").is(202)) {
		t.Error("another session of the same member does not hear it")
	}
	one, two := w.token(w.ours.member, organization.ScopeReportsCreate), w.token(w.ours.member, organization.ScopeReportsCreate)
	for _, token := range []string{one, two} {
		if replayed(send(person{}, token).is(200)) {
			t.Error("a token hears what a session or another token was answered")
		}
		if !replayed(send(person{}, token).is(200)) {
			t.Error("a token does not hear what it was answered itself")
		}
	}
	w.exec(`UPDATE members SET role = 'viewer' WHERE id = $1`, w.ours.member.ID)
	send(w.ours.member, "").problem(403, "forbidden")
	send(person{}, one).problem(403, "forbidden")
	w.exec(`UPDATE members SET role = 'member' WHERE id = $1`, w.ours.member.ID)
	w.exec(`UPDATE tokens SET revoked_at = $2 WHERE member_id = $1`, w.ours.member.ID, w.clock.Now())
	send(person{}, one).problem(401, "token_revoked")
}

// TestStoredAnswersHaveNoSecret: it reads the table after a request that carried a password.
func TestStoredAnswersHaveNoSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const password, key = "hunter2-of-the-monitor", "key-of-the-caller"
	dsn := strings.Replace(pgtest.Shared(t).TCPURL(pgtest.Superuser, "postgres"), "postgres://"+pgtest.Superuser+"@", "postgres://"+pgtest.Superuser+":"+password+"@", 1)
	if !strings.Contains(dsn, password) {
		t.Fatalf("no password in %s", dsn)
	}
	send := func(name string) answer {
		return w.do(request{method: "POST", path: "/api/v1/instances", as: w.ours.admin, header: map[string]string{"Idempotency-Key": key},
			json: map[string]any{"name": name, "engine": "postgresql", "dsn": dsn}})
	}
	first := send("own").is(201)
	if again := send("own").is(201); again.Body.String() != first.Body.String() || again.Header().Get("Location") != first.Header().Get("Location") {
		t.Errorf("replayed: %s", again.Body)
	}
	send("other").problem(422, "idempotency_key_reused")
	for _, secret := range []string{password, key, w.ours.admin.session} {
		if found := pgtest.Mentions(t, w.deps.DB, secret); len(found) > 0 {
			t.Errorf("kept: %v", found)
		}
	}
	var n int
	must(t, w.deps.DB.Get(&n, `SELECT count(*) FROM idempotency_keys WHERE status = 201`))
	if n != 1 {
		t.Errorf("%d answers are kept", n)
	}
}
