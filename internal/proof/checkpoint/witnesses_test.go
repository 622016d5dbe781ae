package checkpoint_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/postgres"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

// other is a witness (C2SP tlog-witness), of one log.
type other struct {
	attest.Witness
	t    *testing.T
	logs note.Verifiers

	mu     sync.Mutex
	sign   note.Signer
	asked  int
	size   int64
	root   tlog.Hash
	answer http.HandlerFunc // nil: as the protocol says
}

// newOther is a witness that knows the log keys of a house.
func newOther(t *testing.T, name string, h *house) *other {
	t.Helper()
	o := &other{t: t}
	var err error
	o.logs, err = h.signing.Verifiers(eventstore.Reports)
	must(t, err)
	secret, public, err := note.GenerateKey(rand.Reader, name)
	must(t, err)
	o.sign, err = cosignature.NewSignerForCosignatureV1(secret)
	must(t, err)
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	o.URL, err = url.Parse(server.URL + "/w")
	must(t, err)
	o.Verifier, err = cosignature.NewVerifierForCosignatureV1(public)
	must(t, err)
	return o
}

func (o *other) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	if o.answer != nil {
		o.answer(w, r)
		return
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/w/add-checkpoint" || r.Method != http.MethodPost {
		o.t.Errorf("%s %s, %v", r.Method, r.URL, err)
	}
	head, text, _ := strings.Cut(string(sent), "\n\n")
	lines := strings.Split(head, "\n")
	var old int64
	if _, err := fmt.Sscanf(lines[0], "old %d", &old); err != nil {
		o.t.Error(err)
	}
	var proof tlog.TreeProof
	for _, line := range lines[1:] {
		hash, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			o.t.Error(err)
		}
		proof = append(proof, tlog.Hash(hash))
	}
	shown, err := attest.ParseCheckpoint(text)
	if err != nil {
		o.t.Error(err)
	}
	signed, err := note.Open([]byte(text), o.logs)
	switch {
	case err != nil:
		w.WriteHeader(403)
	case old != o.size:
		w.Header().Set("Content-Type", "text/x.tlog.size")
		w.WriteHeader(409)
		fmt.Fprintf(w, "%d\n", o.size)
	case old == shown.Size && shown.Root != o.root:
		w.WriteHeader(409)
	case old > 0 && old < shown.Size && tlog.CheckTree(proof, shown.Size, shown.Root, old, o.root) != nil:
		w.WriteHeader(422)
	default:
		o.size, o.root = shown.Size, shown.Root
		cosigned, err := note.Sign(&note.Note{Text: signed.Text}, o.sign)
		if err != nil {
			o.t.Error(err)
		}
		_, _ = w.Write(bytes.TrimPrefix(cosigned, []byte(signed.Text+"\n")))
	}
}

// asks has witnesses asked by a house; what is logged is in said.
func (h *house) asks(said io.Writer, who ...*other) *checkpoint.Witnesses {
	w := &checkpoint.Witnesses{DB: h.db, Maker: h.maker, Now: time.Now, Log: slog.New(slog.NewTextHandler(said, nil)), Client: &http.Client{Timeout: 3 * time.Second}}
	for _, o := range who {
		w.Ask = append(w.Ask, o.Witness)
	}
	return w
}

func (h *house) latest() checkpoint.Checkpoint {
	h.t.Helper()
	c, ok, err := h.maker.Latest(h.t.Context(), eventstore.Reports)
	must(h.t, err)
	if !ok {
		h.t.Fatal("there is no checkpoint")
	}
	return c
}

// TestWitnessesCosign each checkpoint from where they have seen the log, also after we
// forgot where that was, and whatever another witness does.
func TestWitnessesCosign(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	one, two, hangs := newOther(t, "one.example", h), newOther(t, "two.example", h), newOther(t, "hangs.example", h)
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	hangs.answer = func(http.ResponseWriter, *http.Request) { <-done }
	var said bytes.Buffer
	asking := h.asks(&said, one, hangs, two)
	for round, restarted := range []bool{false, false, true} {
		h.append(3)
		_, err := h.makes(int64(3 * (round + 1)))
		must(t, err)
		if restarted {
			asking = h.asks(&said, one, two)
		}
		asking.AskAll(t.Context())
		asking.AskAll(t.Context()) // the same again: a witness that has signed is not asked
		last := h.latest()
		for _, o := range []*other{one, two} {
			if at, ok := attest.Cosigned(last.Note, o.Verifier); !ok || time.Since(at) > time.Minute {
				t.Errorf("%d events: %s has not cosigned: %q\n%s", last.Size, o.Name(), last.Note, &said)
			}
		}
		if strings.Count(last.Note, "— ") != 3 {
			t.Errorf("it has other signatures: %q", last.Note)
		}
	}
	if one.asked != 4 || one.size != 9 { // once a checkpoint, and once to hear where it was
		t.Errorf("it was asked %d times and has seen %d", one.asked, one.size)
	}
	if !strings.Contains(said.String(), "level=WARN") || !strings.Contains(said.String(), "hangs.example") {
		t.Errorf("nothing is said of who hangs: %s", &said)
	}
}

// TestInvalidAnswersOfWitnessesAreNotStored: an answer has to be the current signature of the witness over this
// checkpoint.
func TestInvalidAnswersOfWitnessesAreNotStored(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(4)
	before, err := h.makes(4)
	must(t, err)
	stranger := newOther(t, "one.example", h)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	says := func(code int, form, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", form)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text)
		}
	}
	for name, tc := range map[string]struct {
		change func(*other)
		ahead  time.Duration // of our clock
		want   string
	}{
		"another key of its name":  {func(o *other) { o.sign = stranger.sign }, 0, "no signature of its key over this checkpoint"},
		"another checkpoint":       {func(o *other) { o.answer = says(200, "", strings.SplitN(cosigned(t, o, "x\n1\nAAA=\n"), "\n\n", 2)[1]) }, 0, "no signature of its key"},
		"a signature of long ago":  {func(*other) {}, time.Hour, "from our clock"},
		"nonsense":                 {func(o *other) { o.answer = says(200, "", "thanks\n") }, 0, "no signature of its key"},
		"nothing":                  {func(o *other) { o.answer = status(200) }, 0, "no signature of its key"},
		"endless":                  {func(o *other) { o.answer = says(200, "", strings.Repeat("— one.example AAAA\n", 1<<16)) }, 0, "no signature of its key"},
		"it does not know the log": {func(o *other) { o.answer = status(404) }, 0, "give its operator the origin"},
		"it does not know the key": {func(o *other) { o.answer = status(403) }, 0, "current verifier key"},
		"it redirects":             {func(o *other) { o.answer = says(302, "", "") }, 0, "it answers 302"},
		"it failed":                {func(o *other) { o.answer = status(500) }, 0, "it answers 500"},
		"it has seen more":         {func(o *other) { o.size = 9 }, 0, "level=ERROR"},
		"it has seen other events": {func(o *other) { o.size = 3 }, 0, "level=ERROR"},
		"and as many":              {func(o *other) { o.size = 4 }, 0, "level=ERROR"},
		"it says no size":          {func(o *other) { o.answer = says(409, "text/x.tlog.size", "many") }, 0, "it says no size"},
		"another size each time": {func(o *other) {
			o.answer = func(w http.ResponseWriter, r *http.Request) { says(409, "text/x.tlog.size", fmt.Sprint(o.asked))(w, r) }
		}, 0, "it cannot say how much"},
	} {
		o := newOther(t, "one.example", h)
		tc.change(o)
		var said bytes.Buffer
		asking := h.asks(&said, o)
		asking.Now = func() time.Time { return time.Now().Add(tc.ahead) }
		asking.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		asking.AskAll(t.Context())
		if !strings.Contains(said.String(), tc.want) || o.asked > 2 {
			t.Errorf("%s: asked %d times, %s", name, o.asked, &said)
		}
		if h.latest().Note != before.Note {
			t.Fatalf("%s: the note became %q", name, h.latest().Note)
		}
	}
}

func cosigned(t *testing.T, o *other, text string) string {
	t.Helper()
	signed, err := note.Sign(&note.Note{Text: text}, o.sign)
	must(t, err)
	return string(signed)
}

// twin is another database under the same keys and the same id, with a history of its own, as
// an installation would need it to show two auditors two histories.
func (h *house) twin() *house {
	h.t.Helper()
	t := &house{t: h.t, keyFile: h.keyFile, db: pgtest.Connect(h.t, pgtest.EmptyURL(h.t))}
	must(h.t, postgres.Migrate(h.t.Context(), t.db, slog.New(slog.DiscardHandler)))
	t.store = eventstore.New(t.db)
	t.db.MustExec(`UPDATE installation SET fingerprint = $1 WHERE name = 'id'`, h.signing.Installation())
	ring, err := secrets.Load(filepath.Clean(h.keyFile))
	must(h.t, err)
	t.signing, err = signing.Open(h.t.Context(), t.db, ring, nil)
	must(h.t, err)
	t.restart()
	return t
}

// TestANewerCheckpointOfAnotherProcessIsNoRefusal: while one process asks a witness about a checkpoint, another
// makes the next one and has it cosigned. The witness has then seen more than the first one shows.
func TestANewerCheckpointOfAnotherProcessIsNoRefusal(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	witness := newOther(t, "one.example", h)
	h.append(3)
	_, err := h.makes(3)
	must(t, err)
	var said, saidByFaster bytes.Buffer
	slow, faster := h.asks(&said, witness), h.asks(&saidByFaster, witness)
	var overtaken sync.Once
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		overtaken.Do(func() {
			h.append(2)
			if _, err := h.makes(5); err != nil {
				t.Error(err)
			}
			faster.AskAll(t.Context())
		})
		witness.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	slow.Ask[0].URL, err = url.Parse(front.URL + "/w")
	must(t, err)
	var answers []checkpoint.WitnessAnswer
	slow.Answered = func(_ string, _ eventstore.Log, a checkpoint.WitnessAnswer) { answers = append(answers, a) }
	slow.AskAll(t.Context())
	if err := slow.Check(t.Context()); err != nil || !slices.Equal(answers, []checkpoint.WitnessAnswer{checkpoint.Cosigned}) {
		t.Errorf("the check says %v, the answers are %v: %s", err, answers, &said)
	}
	if note := h.latest().Note; strings.Count(note, "— one.example ") != 1 || saidByFaster.Len() > 0 {
		t.Errorf("the witness has not cosigned once: %q %s", note, &saidByFaster)
	}
}

// TestARefusalEndsWithACosignature, whichever process it was that asked for that.
func TestARefusalEndsWithACosignature(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	witness := newOther(t, "one.example", h)
	h.append(3)
	_, err := h.makes(3)
	must(t, err)
	var said bytes.Buffer
	one, another := h.asks(&said, witness), h.asks(&said, witness)
	witness.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnprocessableEntity) }
	one.AskAll(t.Context())
	var refusal *checkpoint.RefusalError
	if err := one.Check(t.Context()); !errors.As(err, &refusal) {
		t.Fatalf("it is no refusal: %v", err)
	}
	one.AskAll(t.Context())
	if err := one.Check(t.Context()); !errors.As(err, &refusal) {
		t.Errorf("it was taken back: %v", err)
	}
	witness.answer = nil
	another.AskAll(t.Context())
	one.AskAll(t.Context())
	if err := one.Check(t.Context()); err != nil {
		t.Errorf("the witness has cosigned meanwhile: %v", err)
	}
}

// TestTwoHistoriesAreNotCosigned by a witness, and two auditors who compare their
// checkpoints see that they are two.
func TestTwoHistoriesAreNotCosigned(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	twoHistories(t, h, newOther(t, "one.example", h))
}

func twoHistories(t *testing.T, h *house, witness *other) {
	t.Helper()
	twin := h.twin()
	h.append(3)
	_, err := h.makes(3)
	must(t, err)
	var said bytes.Buffer
	h.asks(&said, witness).AskAll(t.Context())
	if _, ok := attest.Cosigned(h.latest().Note, witness.Verifier); !ok {
		t.Fatalf("the witness does not cosign: %s", &said)
	}
	for _, n := range []int{3, 2} { // as many events, and more
		twin.append(n)
		_, err = twin.makes(int64(n))
		must(t, err)
		said.Reset()
		asking := twin.asks(&said, witness)
		var answers []checkpoint.WitnessAnswer
		asking.Answered = func(_ string, _ eventstore.Log, a checkpoint.WitnessAnswer) { answers = append(answers, a) }
		if err := asking.Check(t.Context()); err != nil {
			t.Errorf("a refusal is known before it was asked: %v", err)
		}
		asking.AskAll(t.Context())
		var refusal *checkpoint.RefusalError
		if err := asking.Check(t.Context()); !errors.As(err, &refusal) || !slices.Equal(answers, []checkpoint.WitnessAnswer{checkpoint.Refused}) {
			t.Errorf("the check says %v, the answers are %v", err, answers)
		}
		if _, ok := attest.Cosigned(twin.latest().Note, witness.Verifier); ok || !strings.Contains(said.String(), "another history of log reports") {
			t.Errorf("the witness cosigned both, or nothing is said: %s", &said)
		}
	}
	one, two := h.latest(), twin.latest()
	h.append(2)
	_, err = h.makes(5)
	must(t, err)
	proof, err := tree.New(twin.db).Consistency(t.Context(), eventstore.Reports, one.Size, two.Size)
	must(t, err)
	if tlog.CheckTree(proof, two.Size, two.Root, one.Size, one.Root) == nil {
		t.Error("the checkpoints of two histories fit")
	}
}
