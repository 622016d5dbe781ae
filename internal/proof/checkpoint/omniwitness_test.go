package checkpoint_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"muster/eventstore"
	"muster/internal/proof/attest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/porttest"
)

// findOmniwitness is the witness that make test-all installs.
func findOmniwitness(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	must(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if installed, _ := filepath.Glob(filepath.Join(dir, ".cache", "tools", "omniwitness-*")); len(installed) > 0 {
			return installed[0]
		}
	}
	t.Skip("omniwitness is missing, so no witness of others is asked: make test-all installs it")
	return ""
}

// TestLongAnIndependentWitness is that of others, transparency-dev's: it cosigns our
// checkpoints as the log goes on, and refuses another history under the same keys.
func TestLongAnIndependentWitness(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	program := findOmniwitness(t)
	h := newHouse(t)
	witness := &other{t: t}
	dir, name := t.TempDir(), "witness.example/theirs"
	secret, public, err := note.GenerateKey(rand.Reader, name)
	must(t, err)
	witness.Verifier, err = cosignature.NewVerifierForCosignatureV1(public)
	must(t, err)
	keys, err := h.signing.Keys(t.Context())
	must(t, err)
	logs := "Logs:\n"
	for _, k := range keys.Of(attest.UseLog) {
		origin, _, _ := strings.Cut(k.VerifierKey, "+")
		logs += fmt.Sprintf("  - Origin: %s\n    PublicKey: %s\n", origin, k.VerifierKey)
	}
	must(t, os.WriteFile(filepath.Join(dir, "key"), []byte(secret), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "logs.yaml"), []byte(logs), 0o600))
	address := porttest.Address(t)
	var printed bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, "--logtostderr", "--listen", address, "--metrics_listen", "",
		"--private_key_path", filepath.Join(dir, "key"), "--additional_logs", filepath.Join(dir, "logs.yaml"), "--db_file", filepath.Join(dir, "witness.db"))
	cmd.Stdout, cmd.Stderr = &printed, &printed
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("it said\n%s", &printed)
		}
	})
	witness.URL = &url.URL{Scheme: "http", Host: address}
	for begun := time.Now(); ; {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, witness.URL.String()+"/add-checkpoint", nil)
		must(t, err)
		if a, err := http.DefaultClient.Do(r); err == nil {
			_ = a.Body.Close()
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("it does not start: %s", &printed)
		}
	}

	h.append(2)
	var said bytes.Buffer
	asking := h.asks(&said, witness)
	asking.Client.Timeout = time.Minute
	for size := int64(2); size <= 600; size += 299 {
		_, err := h.makes(size)
		must(t, err)
		asking.AskAll(t.Context())
		if at, ok := attest.Cosigned(h.latest().Note, witness.Verifier); !ok || time.Since(at).Abs() > time.Minute {
			t.Fatalf("it does not cosign %d events: %s", size, &said)
		}
		h.append(299)
	}
	other := h.twin()
	other.append(700)
	_, err = other.makes(700)
	must(t, err)
	said.Reset()
	other.asks(&said, witness).AskAll(t.Context())
	if _, ok := attest.Cosigned(other.latest().Note, witness.Verifier); ok || !bytes.Contains(said.Bytes(), []byte("another history of log "+string(eventstore.Reports))) {
		t.Errorf("it cosigns another history, or nothing is said: %s", &said)
	}
}
