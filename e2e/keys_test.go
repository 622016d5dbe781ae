package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/cli/command"
	"muster/internal/proof/attest"
	"muster/internal/proof/signing"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// keyLine is what `keys list` prints about a key.
type keyLine struct{ fingerprint, state, sealed, public string }

func (i installed) keys(t testing.TB) (lines []keyLine) {
	t.Helper()
	for line := range strings.Lines(i.must(t, "keys", "list")) {
		if f := strings.Fields(line); f[0] != "FINGERPRINT" {
			n := len(f)
			lines = append(lines, keyLine{f[0], strings.Join(f[2:n-2], " "), f[n-2], f[n-1]})
		}
	}
	return lines
}

func (i installed) keyFile() string { return filepath.Join(i.dir, "secret.key") }

// assessedAgain asks for another look at a server and waits for it.
func (c client) assessedAgain(t testing.TB, instance uuid.UUID) {
	t.Helper()
	before := c.assessed(t, instance)
	path := "/api/v1/instances/" + instance.String()
	c.call(t, http.StatusAccepted, http.MethodPost, path+"/assess", nil, nil)
	var after struct {
		LastAssessedAt time.Time
		LastError      *struct{ Message string }
	}
	eventually(t, "the server is assessed again", func() bool {
		c.get(t, path, &after)
		return after.LastAssessedAt.After(before)
	})
	if after.LastError != nil {
		t.Errorf("the assessment ended with %+v", after.LastError)
	}
}

// assessed waits until a server is, and returns when it was.
func (c client) assessed(t testing.TB, instance uuid.UUID) time.Time {
	t.Helper()
	var shown struct{ LastAssessedAt time.Time }
	eventually(t, "the server is assessed", func() bool {
		c.get(t, "/api/v1/instances/"+instance.String(), &shown)
		return !shown.LastAssessedAt.IsZero()
	})
	return shown.LastAssessedAt
}

// TestLongKeysRotateUnderARunningServe: nobody tells the server, and it goes on.
func TestLongKeysRotateUnderARunningServe(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	h := newHouse(t, "--channel-networks=127.0.0.0/8")
	h.ana.assessedAgain(t, h.live)
	tested := h.ana.testedChannel(t)
	copied := fileWith(t, "secret.key", string(read(t, h.keyFile())))
	signed := strings.SplitN(h.must(t, "events", "head"), "\n", 2)[0]
	before := h.keys(t)
	if len(before) != 1 || before[0].state != "current" || before[0].sealed != "2" {
		t.Fatalf("before: %+v", before)
	}

	published := h.published(t)
	said := h.must(t, "keys", "rotate")
	if !strings.Contains(said, before[0].fingerprint) || !strings.Contains(said, "sealed again: 2") {
		t.Errorf("it says %s", said)
	}
	h.ana.assessedAgain(t, h.live)
	other := h.ana.watch(t, "pg-other", pgtest.Watched(t).TCPURL(pgtest.Superuser, "postgres"))
	h.ana.assessedAgain(t, other)
	after := h.keys(t)
	if len(after) != 2 || after[0].state != "old" || after[0].sealed != "0" || after[1].state != "current" || after[1].sealed != "3" {
		t.Fatalf("after: %+v", after)
	}

	elsewhere := append([]string{"events", "head"}, append(h.flags(), "--secret-key-file", copied)...)
	muster(t, elsewhere...).failed(t, "rotated", after[1].fingerprint, after[0].fingerprint, copied, "docs/runbooks/rotate-keys.md")
	both := h.published(t)
	tested()
	h.must(t, "keys", "retire")
	h.ana.assessedAgain(t, h.live)
	tested()
	h.publishedThrough(t, published, both)
	if lines := h.keys(t); !strings.HasPrefix(lines[0].state, "retired ") || lines[1].state != "current" {
		t.Errorf("after retire: %+v", lines)
	}
	h.revokes(t, before[0].fingerprint, after[1].fingerprint)
	h.acceptsUnmarked(t)
	if n := strings.Count(string(read(t, h.keyFile())), "\n"); n != 1 {
		t.Errorf("the file has %d keys", n)
	}

	// What each key signed can be checked with its public key, and no other.
	h.must(t, "events", "head", "--check", signed, "--key", before[0].public)
	h.fail(t, []string{"events", "head", "--check", signed, "--key", after[1].public}, "not signed by this key")
	signed = strings.SplitN(h.must(t, "events", "head"), "\n", 2)[0]
	h.must(t, "events", "head", "--check", signed, "--key", after[1].public)
	h.server.stop(t)
	h.server = servingHere(t, h.flags()...)
	h.ana.base = h.server.base
	h.ana.assessedAgain(t, other)
}

// revokes a retired key, and cannot revoke the current one, or take a revocation back.
func (h *house) revokes(t testing.TB, old, current string) {
	t.Helper()
	const reason = "a backup was stolen"
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{nil, command.ExitUsage, "accepts 1 arg(s)"},
		{[]string{old}, command.ExitUsage, "--since: say from when on"},
		{[]string{old, "--since", "yesterday"}, command.ExitUsage, `--since: "yesterday" is no time`},
		{[]string{old, "--since", "2999-01-01"}, command.ExitUsage, "has not come yet"},
		{[]string{old, "--since", "2026-01-01", "--reason", "a\nb"}, command.ExitUsage, "one line of at most 200 characters"},
		{[]string{"0000", "--since", "2026-01-01"}, command.ExitFailed, "the installation never published it"},
		{[]string{current, "--since", "2026-01-01"}, command.ExitFailed, "it is the current key"},
	} {
		if got := h.muster(t, append([]string{"keys", "revoke"}, c.args...)...); got.status != c.status || !strings.Contains(got.errors, c.says) {
			t.Errorf("%q ends with %d, want %d and %q: %s", c.args, got.status, c.status, c.says, got.errors)
		}
	}
	since := time.Now().Add(-time.Minute).UTC().Truncate(time.Second)
	said := h.must(t, "keys", "revoke", old, "--since", since.Format(time.RFC3339), "--reason", reason)
	if strings.Count(said, "revoked as of") != 6 || !strings.Contains(said, reason) {
		t.Errorf("it says %s", said)
	}
	h.fail(t, []string{"keys", "revoke", old, "--since", time.Now().UTC().Format(time.RFC3339)}, "it is revoked already")
	for _, k := range h.published(t) {
		if gone := k.ValidTo != nil; gone != (k.RevokedAt != nil && k.RevokedAt.Equal(since) && k.Reason == reason) {
			t.Errorf("published is %+v", k)
		}
	}
	if lines := h.keys(t); !strings.Contains(lines[0].state, "revoked as of") || strings.Contains(lines[1].state, "revoked") {
		t.Errorf("after revoke: %+v", lines)
	}
	var log struct{ Items []struct{ Type string } }
	h.ana.get(t, "/api/v1/audit-events?type=keysRevoked", &log)
	if len(log.Items) != 1 {
		t.Errorf("the audit list has %+v", log)
	}
}

// acceptsUnmarked takes what is in the logs without a mark: the start of serve had noted up to
// where that is, in the database and where SQL does not reach.
func (h *house) acceptsUnmarked(t testing.TB) {
	t.Helper()
	noted := func() (note struct {
		Seq  int
		Open bool
	}) {
		t.Helper()
		if err := json.Unmarshal(read(t, h.keyFile()+".marks"), &note); err != nil {
			t.Fatal(err)
		}
		return note
	}
	if note := noted(); note.Seq != 1 || note.Open {
		t.Errorf("serve has noted %+v", note)
	}
	if said := h.must(t, "keys", "accept-unmarked"); !strings.Contains(said, "fleet:") || !strings.Contains(said, "are accepted without a mark") {
		t.Errorf("it says %s", said)
	}
	if note := noted(); note.Seq != 2 || note.Open {
		t.Errorf("accepted is %+v", note)
	}
	var log struct{ Items []struct{ Type string } }
	h.ana.get(t, "/api/v1/audit-events?type=unmarkedAccepted", &log)
	if len(log.Items) != 1 {
		t.Errorf("the audit list has %+v", log)
	}
}

// testedChannel makes a channel to a receiver of the test, and returns what tests it: the
// address, which is sealed, leads there.
func (c client) testedChannel(t testing.TB) (tested func()) {
	t.Helper()
	var posts atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { posts.Add(1) }))
	t.Cleanup(receiver.Close)
	var made struct{ ID uuid.UUID }
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/channels", map[string]any{"name": "Chat", "kind": "chat", "url": receiver.URL + "/secret"}, &made)
	return func() {
		t.Helper()
		before := posts.Load()
		c.call(t, http.StatusOK, http.MethodPost, "/api/v1/channels/"+made.ID.String()+"/test", nil, nil)
		if posts.Load() != before+1 {
			t.Error("the channel's address is not what it was")
		}
	}
}

// published are the public keys as anybody is told them, which is what the command prints.
func (h *house) published(t testing.TB) []attest.Key {
	t.Helper()
	printed, err := attest.ParseKeys([]byte(h.must(t, "keys", "export")))
	if err != nil {
		t.Fatal(err)
	}
	var keys attest.Keys
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) { // it is at most signing.PublishedAge old
		served := client{base: h.server.base}.call(t, http.StatusOK, http.MethodGet, "/.well-known/muster-keys.json", nil, nil).body
		if keys, err = attest.ParseKeys(served); err != nil {
			t.Fatal(err)
		}
		if reflect.DeepEqual(printed, keys) {
			return keys.Keys
		}
		if time.Since(began) > 2*signing.PublishedAge {
			t.Fatalf("served are %+v, printed %+v", keys, printed)
		}
	}
}

// publishedThrough a rotation and a retirement, which nobody told the server of: keys come
// in front, and those that go stay with the date.
func (h *house) publishedThrough(t testing.TB, before, both []attest.Key) {
	t.Helper()
	after := h.published(t)
	if len(before) != 6 || len(both) != 12 || len(after) != 12 {
		t.Fatalf("published were %d, %d and %d keys", len(before), len(both), len(after))
	}
	old := map[string]bool{}
	for _, k := range before {
		old[string(k.Use)+k.ID] = true
	}
	for n, k := range after {
		if gone := old[string(k.Use)+k.ID]; gone != (n >= 6) || gone != (k.ValidTo != nil) || !old[string(both[n].Use)+both[n].ID] != (n < 6) || both[n].ValidTo != nil {
			t.Errorf("key %d: %+v", n, k)
		}
	}
}

// TestLongKeysRotateIsKilled kills rotations wherever they are by then, two of them
// at once, and finds every connection still to be opened.
func TestLongKeysRotateIsKilled(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	h := newHouse(t)
	args := append([]string{"keys", "rotate"}, h.flags()...)
	for range 4 {
		two := []*running{launch(t, nil, args...), launch(t, nil, args...)}
		<-two[1].begun
		two[0].atWork(400 * time.Millisecond)
		for _, r := range two {
			r.kill(t)
		}
		h.ana.assessedAgain(t, h.live)
	}
	h.must(t, "keys", "rotate")
	lines := h.keys(t)
	current := 0
	for _, l := range lines {
		switch {
		case l.state == "current" && l.sealed == "1":
			current++
		case l.state != "old" || l.sealed != "0":
			t.Errorf("a key is %+v", l)
		}
	}
	if current != 1 {
		t.Errorf("%d keys are current: %+v", current, lines)
	}
	h.must(t, "keys", "retire")
	h.ana.assessedAgain(t, h.live)
}
