package e2e

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"muster/internal/proof/attest"
)

// TestServeAsksWitnesses: a report's checkpoint is cosigned at once, not within the minute
// in which nobody was told of it; and `events checkpoint` prints it so.
func TestServeAsksWitnesses(t *testing.T) {
	t.Parallel()
	secret, public, err := note.GenerateKey(rand.Reader, "witness.example/one")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := cosignature.NewSignerForCosignatureV1(secret)
	if err != nil {
		t.Fatal(err)
	}
	witness := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // one that believes everybody
		sent, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/add-checkpoint" || !strings.HasPrefix(string(sent), "old ") {
			t.Errorf("%s %q, %v", r.URL, sent, err)
		}
		_, checkpoint, _ := strings.Cut(string(sent), "\n\n")
		text, _, _ := strings.Cut(checkpoint, "\n\n")
		signed, err := note.Sign(&note.Note{Text: text + "\n"}, signer)
		if err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, strings.TrimPrefix(string(signed), text+"\n\n"))
	}))
	t.Cleanup(witness.Close)
	h := newHouse(t, "--witnesses", fileWith(t, "witnesses", public+" "+witness.URL+"\n"))
	known, err := cosignature.NewVerifierForCosignatureV1(public)
	if err != nil {
		t.Fatal(err)
	}
	id := h.ana.request(t, security(h.live))
	h.ana.signed(t, id)
	begun := time.Now()
	eventually(t, "the checkpoint is cosigned", func() bool {
		_, ok := attest.Cosigned(h.must(t, "events", "checkpoint"), known)
		return ok
	})
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s: nobody told the witnesses, who are asked once a minute anyway", took)
	}
	eventually(t, "the report's proof has it, too", func() bool {
		proof, err := attest.ParseProof(h.ana.get(t, "/api/v1/reports/"+id.String()+"/proof", nil).body)
		if err != nil {
			t.Fatal(err)
		}
		_, ok := attest.Cosigned(proof.Checkpoint, known)
		return ok
	})
}

// witnessThatSays is a file of one witness, which cosigns nothing and answers with a status.
func witnessThatSays(t *testing.T, status func() int) (file string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status()) }))
	t.Cleanup(server.Close)
	_, public, err := note.GenerateKey(rand.Reader, "witness.example/w1")
	if err != nil {
		t.Fatal(err)
	}
	return fileWith(t, "witnesses", public+" "+server.URL+"\n")
}
