package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/internal/files/blobs"
	"muster/internal/proof"
	"muster/internal/proof/attest"
	"muster/internal/proof/prooftest"
)

// signed gives a report's PDF a second revision.
func (w *world) signed(as tenant, id uuid.UUID, text string) (name string) {
	w.t.Helper()
	name = blobs.SignedName(as.organization.ID, id, 1)
	written, err := w.deps.Blobs.WritePDF(context.Background(), name, strings.NewReader(text))
	must(w.t, err)
	w.inTx(func(ctx context.Context, tx *sqlx.Tx) (usecase.Mark, error) {
		event := report.Signed{SHA256: written.SHA256, Key: name, SizeBytes: written.SizeBytes, KeyID: "k"}
		return w.deps.Commands.RecordSigned(ctx, tx, as.organization.ID, id, event, false, func() error {
			return proof.KeepSigned(ctx, tx, as.organization.ID, id, written.SHA256)
		})
	})
	return name
}

func TestProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, hidden := w.requested(w.ours, w.ours.member), w.requested(w.theirs, w.theirs.member)
	path := "/api/v1/reports/" + id.String() + "/proof"
	w.get(w.ours.member, path).problem(409, "report_not_ready")
	w.ready(w.ours, id, pdfText)
	w.get(w.ours.member, path).problem(404, "not_found") // nothing is to prove it
	must(t, w.deps.Jobs.SignAgain(t.Context(), w.ours.organization.ID, id))
	waiting := w.get(w.ours.member, path)
	waiting.problem(409, "proof_not_ready")
	if waiting.Header().Get("Retry-After") == "" {
		t.Error("it does not say when to ask again")
	}

	_, err := w.deps.Proofs.Make(t.Context(), w.ours.organization.ID, id)
	must(t, err)
	got := w.get(w.ours.member, path).is(200)
	p, err := attest.ParseProof(got.Body.Bytes())
	must(t, err)
	keys, err := w.deps.Proofs.Signing.Keys(t.Context())
	must(t, err)
	if verdict, steps := attest.Check(sha256.Sum256([]byte(pdfText)), p, attest.Trust{Keys: keys}); verdict != attest.Holds || p.Report.ID != id || p.Report.Kind != "Security" {
		t.Errorf("it %s: %+v", verdict, steps)
	}
	if again := w.get(w.ours.member, path).is(200); again.Body.String() != got.Body.String() {
		t.Error("another proof comes the second time")
	}

	if file := w.get(w.ours.member, strings.Replace(path, "/proof", "/files/proof.json", 1)).is(200); file.Body.String() != got.Body.String() {
		t.Error("the file is another proof")
	}
	listed := w.get(w.ours.member, strings.Replace(path, "/proof", "/files", 1)).is(200).object()["items"].([]any)
	last := listed[len(listed)-1].(map[string]any)
	if last["name"] != "proof.json" || last["sizeBytes"] != float64(got.Body.Len()) {
		t.Errorf("the list has %v", listed)
	}
	w.get(w.ours.viewer, path).problem(403, "forbidden") // who does not receive it
	w.ready(w.theirs, hidden, pdfText+" theirs")
	_, err = w.deps.Proofs.Make(t.Context(), w.theirs.organization.ID, hidden)
	must(t, err)
	w.get(w.ours.auditor, "/api/v1/reports/"+hidden.String()+"/proof").problem(404, "not_found")
}

// TestADownloadReturnsTheSignedPDF: its bytes, its digest and its size are the same everywhere. The unsigned
// file is there under its own name.
func TestADownloadReturnsTheSignedPDF(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	path := "/api/v1/reports/" + id.String()
	file := func() map[string]any { return w.get(w.ours.member, path).is(200).object()["file"].(map[string]any) }
	if f := file(); f["signed"] != false || f["sha256"] != digest(pdfText) || f["baseSha256"] != digest(pdfText) {
		t.Errorf("before it is signed the file is %v", f)
	}
	_, err := w.deps.Proofs.Make(t.Context(), w.ours.organization.ID, id)
	must(t, err)
	const text = pdfText + "\nsigned"
	name := w.signed(w.ours, id, text)
	if f := file(); f["signed"] != true || f["sha256"] != digest(text) || f["baseSha256"] != digest(pdfText) || f["sizeBytes"] != float64(len(text)) {
		t.Errorf("the file is %v", f)
	}
	for address, want := range map[string]string{path + "/download": text, path + "/files/report.pdf": pdfText, path + "/download?revision=base": pdfText} {
		got := w.get(w.ours.member, address).is(200)
		if got.Body.String() != want || got.Header().Get("ETag") != `"`+digest(want)+`"` {
			t.Errorf("%s gives %q, ETag %s", address, got.Body, got.Header().Get("ETag"))
		}
	}
	part := w.do(request{path: path + "/download", as: w.ours.member, header: map[string]string{"Range": "bytes=62-", "If-Range": `"` + digest(text) + `"`}}).is(206)
	if part.Body.String() != "\nsigned" {
		t.Errorf("a range behind what was built is %q", part.Body)
	}
	w.get(w.ours.member, path+"/download?revision=signed").is(400)

	for content, known := range map[string]bool{text: true, pdfText: true, text + " ": false} {
		got := w.do(request{method: "POST", path: "/api/v1/reports/verify", as: w.ours.viewer, body: content,
			header: map[string]string{"Content-Type": "application/pdf"}}).is(200).object()
		if got["known"] != known || known && got["chain"] != "ok" {
			t.Errorf("%q: %v", content, got)
		}
	}

	_, err = w.deps.Blobs.WritePDF(t.Context(), name, strings.NewReader(strings.ToUpper(text)))
	must(t, err)
	w.get(w.ours.member, path+"/download").problem(500, "file_altered")
	must(t, w.deps.Blobs.Delete(t.Context(), name))
	if got := w.get(w.ours.member, path+"/download").is(200); got.Body.String() != pdfText {
		t.Errorf("where the signed file was lost, %q is given", got.Body)
	}
	if waits, err := w.deps.Jobs.Signs(t.Context(), w.ours.organization.ID, id); err != nil || !waits {
		t.Errorf("no other one is made: %v", err)
	}
}

// TestVerifySeesARewrittenHistory: a digest changed in Ready with everything behind it
// computed anew is not what was proven.
func TestVerifySeesARewrittenHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	_, err := w.deps.Proofs.Make(t.Context(), w.ours.organization.ID, id)
	must(t, err)
	const forged = "%PDF-1.7 forged, with a digest of its own"
	genuine, other := sha256.Sum256([]byte(pdfText)), sha256.Sum256([]byte(forged))
	digest := hex.EncodeToString(other[:])
	prooftest.Rewrite(t, w.deps.DB, id, hex.EncodeToString(genuine[:]), digest)
	w.deps.DB.MustExec(`UPDATE report_history_v2.reports SET pdf_sha256 = $2, file = jsonb_set(file, '{sha256}', to_jsonb($2::text)) WHERE id = $1`, id, digest)
	got := w.do(request{method: "POST", path: "/api/v1/reports/verify", as: w.ours.viewer, body: forged,
		header: map[string]string{"Content-Type": "application/pdf"}}).is(200).object()
	if got["known"] != true || got["chain"] != "broken" {
		t.Errorf("the forged file: %v", got)
	}
}
