package attest_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
)

// TestWitnesses: a witness that signed below a checkpoint is told from one that did not.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	secret, public, err := note.GenerateKey(rand.Reader, "witness.example/one")
	must(t, err)
	signer, err := cosignature.NewSignerForCosignatureV1(secret)
	must(t, err)
	named, err := attest.ParseWitnesses([]byte("# ours\n\n" + public + " https://witness.example/one\n"))
	must(t, err)
	_, stranger, err := note.GenerateKey(rand.Reader, "witness.example/two")
	must(t, err)
	unknown, err := attest.ParseWitnesses([]byte(stranger))
	must(t, err)
	if len(named) != 1 || named[0].URL.Host != "witness.example" || unknown[0].URL != nil {
		t.Fatalf("%+v, %+v", named, unknown)
	}

	p := attesttest.New(t, "ours").Prove([]byte("%PDF"), 3, 7)
	if _, ok := attest.Cosigned(p.Checkpoint, named[0]); ok {
		t.Error("it is cosigned before it is")
	}
	of, err := p.Tree()
	must(t, err)
	signed, err := note.Sign(&note.Note{Text: of.Text}, signer)
	must(t, err)
	cosigned := p.Checkpoint + strings.TrimPrefix(string(signed), of.Text+"\n")
	at, ok := attest.Cosigned(cosigned, named[0])
	if !ok || time.Since(at) > time.Minute {
		t.Errorf("cosigned %v on %v", ok, at)
	}
	if got := attest.CosignedBy(cosigned, time.Now().Add(time.Hour)); got != cosigned {
		t.Errorf("by then it is\n%s", got)
	}
	if got := attest.CosignedBy(cosigned, time.Now().Add(-time.Hour)); got != p.Checkpoint {
		t.Errorf("without what came later it is\n%s", got)
	}
	if _, ok := attest.Cosigned(cosigned, unknown[0]); ok {
		t.Error("a stranger has signed")
	}
	if _, ok := attest.Cosigned(strings.Replace(cosigned, "\n7\n", "\n8\n", 1), named[0]); ok {
		t.Error("it has signed another tree")
	}
	for _, none := range []string{"", "\n", "# nobody yet\n"} {
		if _, err := attest.ParseWitnesses([]byte(none)); err == nil || !strings.Contains(err.Error(), "names no witness") {
			t.Errorf("%q is taken for a file of witnesses: %v", none, err)
		}
	}
	_, err = attest.ParseWitnesses([]byte("x\n" + public + " nowhere\n" + public + " https://a b\n"))
	for _, line := range []string{"line 1", "line 2", "line 3"} {
		if err == nil || !strings.Contains(err.Error(), line) {
			t.Errorf("%s is not named: %v", line, err)
		}
	}
}
