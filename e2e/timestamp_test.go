package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/cli/prove"
	"muster/internal/proof/attest"
	"muster/internal/proof/timestamp"
)

// authority is a time stamp service: `openssl ts` behind a small server. away makes it fail.
type authority struct {
	dir, url string
	away     atomic.Bool
}

func openssl(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "openssl", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	a := &authority{dir: t.TempDir()}
	in := func(name string) string { return filepath.Join(a.dir, name) }
	write(t, in("tsa.conf"), []byte(fmt.Sprintf("[tsa]\ndefault_tsa = here\n[here]\nserial = %s\nsigner_cert = %s\ncerts = %s\nsigner_key = %s\n"+
		"signer_digest = sha256\ndefault_policy = 1.2.3.4.1\ndigests = sha256\ness_cert_id_alg = sha256\n",
		in("serial"), in("tsa.pem"), in("ca.pem"), in("tsa.key"))))
	write(t, in("ext"), []byte("extendedKeyUsage = critical, timeStamping\n"))
	openssl(t, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", in("ca.key"), "-out", in("ca.pem"), "-subj", "/CN=Test CA", "-days", "2")
	openssl(t, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", in("tsa.key"), "-out", in("tsa.csr"), "-subj", "/CN=Test clock")
	openssl(t, "x509", "-req", "-in", in("tsa.csr"), "-CA", in("ca.pem"), "-CAkey", in("ca.key"), "-CAcreateserial", "-out", in("tsa.pem"), "-extfile", in("ext"), "-days", "1")
	var turn atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, err := io.ReadAll(r.Body)
		if err != nil || a.away.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		name := in(fmt.Sprintf("query-%d", turn.Add(1)))
		if err := os.WriteFile(name, query, 0o600); err != nil {
			t.Error(err)
		}
		out, err := exec.Command("openssl", "ts", "-reply", "-config", in("tsa.conf"), "-queryfile", name, "-out", name+".tsr").CombinedOutput()
		reply, readErr := os.ReadFile(name + ".tsr")
		if err != nil || readErr != nil {
			t.Errorf("openssl ts: %v, %v\n%s", err, readErr, out)
		}
		w.Header().Set("Content-Type", "application/timestamp-reply")
		_, _ = w.Write(reply)
	}))
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// TestAReportIsTimeStamped by somebody else's clock: its proof, the log's tree and the
// PDF's signature. One that the service was away for follows.
func TestAReportIsTimeStamped(t *testing.T) {
	t.Parallel()
	clock := newAuthority(t)
	h := newHouse(t, "--tsa-url="+clock.url)
	id := h.done(t, security(h.live))
	_, pdf := h.ana.download(t, id)
	keys := fileWith(t, "keys.json", h.must(t, "keys", "export"))
	began := time.Now()
	got := muster(t, "verify", "--offline", "--keys", keys, "--tsa-ca", filepath.Join(clock.dir, "ca.pem"), "--json", pdf)
	var said struct{ Files []prove.Verified }
	if err := json.Unmarshal([]byte(got.out), &said); err != nil || got.status != 0 || len(said.Files) != 1 {
		t.Fatalf("it ends with %d, %v: %s%s", got.status, err, got.out, got.errors)
	}
	v := said.Files[0]
	held := 0
	for _, s := range v.Steps {
		if s.Name == attest.StepTimestamp && s.State == attest.Held && strings.Contains(s.Detail, "Test clock") {
			held++
		}
	}
	if held != 3 || v.AtTheLatest == nil || v.AtTheLatest.After(began.Add(time.Minute)) || !strings.Contains(v.Sentence, "at the latest") {
		t.Errorf("%d time stamps hold: %+v", held, v)
	}

	// OpenSSL says the same of the token over the attestation.
	document := h.ana.get(t, "/api/v1/reports/"+id.String()+"/proof", nil).body
	p, err := attest.ParseProof(document)
	if err != nil || len(document) > 24<<10 {
		t.Fatalf("the proof has %d bytes: %v", len(document), err)
	}
	signature, token := fileWith(t, "signature", string(p.Attestation.Signature)), fileWith(t, "token", string(p.Attestation.Timestamp))
	if said := openssl(t, "ts", "-verify", "-data", signature, "-in", token, "-token_in", "-CAfile", filepath.Join(clock.dir, "ca.pem")); !strings.Contains(said, "Verification: OK") {
		t.Errorf("openssl says %s", said)
	}
	if got := pdfsig(t, pdf); got != sigValid {
		t.Errorf("pdfsig says %s", got)
	}
	walkThrough(t, pdf, "--keys", keys, "--tsa-ca", filepath.Join(clock.dir, "ca.pem"))
	trust := muster(t, "trust", "init", "--keys", keys, "--tsa-ca", filepath.Join(clock.dir, "ca.pem")).out
	walkThrough(t, pdf, "--trust", fileWith(t, "trust.json", trust))

	// Another CA's time stamps are nobody's here.
	stranger := newAuthority(t)
	other := muster(t, "verify", "--offline", "--keys", keys, "--tsa-ca", filepath.Join(stranger.dir, "ca.pem"), pdf)
	if other.status != 1 || !strings.Contains(other.out, "time stamp") {
		t.Errorf("by another CA it ends with %d: %s", other.status, other.out)
	}

	clock.away.Store(true)
	late := h.done(t, scorecard(h.live, 0))
	_, unstamped := h.ana.download(t, late)
	if got := muster(t, "verify", "--offline", "--keys", keys, "--tsa-ca", filepath.Join(clock.dir, "ca.pem"), unstamped); got.status != command.ExitCannotTell || !strings.Contains(got.out, "no time stamp") {
		t.Errorf("without a time stamp it ends with %d: %s", got.status, got.out)
	}
	clock.away.Store(false)
	h.within(t, func(ctx context.Context, in *installation.Installation) error {
		in.Proofs.Stamp = timestamp.Service{URL: clock.url}.Stamp
		return in.StampProofs(ctx)
	})
	beside := fileWith(t, "proof.json", string(h.ana.get(t, "/api/v1/reports/"+late.String()+"/proof", nil).body))
	if got := muster(t, "verify", "--offline", "--keys", keys, "--tsa-ca", filepath.Join(clock.dir, "ca.pem"), "--proof", beside, unstamped); got.status != 0 || strings.Count(got.out, "by the clock of Test clock") != 2 {
		t.Errorf("with the proof of later it ends with %d: %s%s", got.status, got.out, got.errors)
	}
}

// walkThrough has a real report checked by none of our programs.
func walkThrough(t *testing.T, args ...string) {
	t.Helper()
	for _, program := range []string{"bash", "python3", "qpdf", "pdfdetach"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	script, err := filepath.Abs(filepath.Join(root, "scripts", "check_report.sh"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "bash", append([]string{script}, args...)...).CombinedOutput()
	if err != nil || strings.Count(string(out), " held ") < 7 || !strings.Contains(string(out), "It holds.") {
		t.Errorf("%v:\n%s", err, out)
	}
}
