package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/testing/pgtest"
)

func TestDownload(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	id := w.requested(w.ours, w.ours.member)
	path := "/api/v1/reports/" + id.String() + "/download"
	w.get(w.ours.member, path).problem(409, "report_not_ready")
	w.ready(w.ours, id, pdfText)

	if head := w.do(request{method: "HEAD", path: path, as: w.ours.member}); head.Code != 200 || head.Header().Get("Content-Length") != "62" {
		t.Errorf("HEAD: %d %v", head.Code, head.Header())
	}
	if n := w.downloads(id); n != 0 {
		t.Errorf("a HEAD is on record as %d downloads", n)
	}
	whole := w.get(w.ours.member, path).is(200)
	if whole.Body.String() != pdfText {
		t.Errorf("got %q", whole.Body.String())
	}
	digest := sha256.Sum256([]byte(pdfText))
	for name, want := range map[string]string{
		"Content-Type":        "application/pdf",
		"Content-Length":      "62",
		"Accept-Ranges":       "bytes",
		"Cache-Control":       "private, no-store",
		"Repr-Digest":         "sha-256=:" + base64.StdEncoding.EncodeToString(digest[:]) + ":",
		"Content-Disposition": `attachment; filename="security-gr__e _1_.pdf"; filename*=UTF-8''security-gr%C3%B6%C3%9Fe%20%221%22.pdf`,
		"RateLimit-Policy":    `"default";q=600;w=60, "download";q=60;w=60`,
	} {
		if got := whole.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}

	part := func(header map[string]string) answer {
		return w.do(request{method: "GET", path: path, as: w.ours.member, header: header})
	}
	some := part(map[string]string{"Range": "bytes=1-3"}).is(206)
	if some.Body.String() != "PDF" || some.Header().Get("Content-Range") != "bytes 1-3/62" {
		t.Errorf("range: %q %v", some.Body.String(), some.Header())
	}
	if last := part(map[string]string{"Range": "bytes=-6"}).is(206); last.Body.String() != "ranges" {
		t.Errorf("suffix: %q", last.Body.String())
	}
	outside := part(map[string]string{"Range": "bytes=99-"})
	outside.problem(416, "range_not_satisfiable")
	for name, want := range map[string]string{"Content-Range": "bytes */62", "Cache-Control": "private, no-store", "Repr-Digest": "", "Content-Disposition": ""} {
		if got := outside.Header().Get(name); got != want {
			t.Errorf("a range outside the file: %s is %q, want %q", name, got, want)
		}
	}
	if other := part(map[string]string{"Range": "bytes=1-3", "If-Range": `"another"`}).is(200); other.Body.String() != pdfText {
		t.Error("a range of another file was sent")
	}
	w.do(request{method: "GET", path: path, as: w.ours.member, header: map[string]string{"Accept": "text/html"}}).problem(406, "not_acceptable")

	if n := w.downloads(id); n != 1 {
		t.Errorf("%d downloads on record within an hour, want 1", n)
	}
}

// downloads are those on record for a report.
func (w *world) downloads(id uuid.UUID) (n int) {
	w.t.Helper()
	for _, e := range w.get(w.ours.auditor, "/api/v1/reports/"+id.String()+"/events").is(200).object()["items"].([]any) {
		if e.(map[string]any)["type"] == "downloaded" {
			n++
		}
	}
	return n
}

func TestViewersDownloadOnlyReportsSentToThem(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	mine, other := w.requested(w.ours, w.ours.member, w.ours.viewer.ID), w.requested(w.ours, w.ours.member)
	w.ready(w.ours, mine, pdfText)
	w.ready(w.ours, other, pdfText+"2")
	w.get(w.ours.viewer, "/api/v1/reports/"+mine.String()+"/download").is(200)
	w.get(w.ours.viewer, "/api/v1/reports/"+other.String()+"/download").problem(403, "forbidden")
	urls := map[string]any{}
	for _, r := range w.get(w.ours.viewer, "/api/v1/reports?kind=Security").is(200).object()["items"].([]any) {
		row := r.(map[string]any)
		urls[row["id"].(string)] = row["downloadUrl"]
	}
	if urls[mine.String()] == nil || urls[other.String()] != nil {
		t.Errorf("download URLs of a viewer: %v", urls)
	}
	// A token that may not download is shown the URL of its owner's role, and that it cannot.
	reading := w.token(w.ours.member, organization.ScopeReportsRead)
	w.do(request{method: "GET", path: "/api/v1/reports/" + mine.String() + "/download", token: reading}).problem(403, "forbidden")
	shown := w.do(request{method: "GET", path: "/api/v1/reports/" + mine.String(), token: reading}).is(200).object()
	if shown["capabilities"].(map[string]any)["canDownload"] != false {
		t.Error("a token without the scope is told that it can download")
	}
}

// TestAReportExpiresDuringADownload: the last instant passes between the read of the report and the record of
// its download.
func TestAReportExpiresDuringADownload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.withFiles(w.ours)
	w.deps.Commands.Now = func() time.Time { return w.clock.Now().Add(30*day + time.Second) }
	w.get(w.ours.member, "/api/v1/reports/"+id.String()+"/download").problem(410, "report_expired")
	w.get(w.ours.member, "/api/v1/reports/"+id.String()+"/files/"+report.PDFFile).problem(410, "expired")
	w.get(w.ours.member, "/api/v1/reports/"+id.String()+"/files/"+report.FindingsFile).problem(410, "expired")
	w.get(w.ours.auditor, "/api/v1/reports/"+id.String()+"/files/"+report.InputsFile).is(200)
}

func TestExpiryFollowsTheClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	w.clock.Advance(30*24*time.Hour + time.Second)
	again, _, err := w.deps.Accounts.StartSession(t.Context(), w.ours.member.ID, accounts.MethodPassword, client0)
	must(t, err)
	me := person{w.ours.member.Member, again}
	w.get(me, "/api/v1/reports/"+id.String()+"/download").problem(410, "report_expired")
	shown := w.get(me, "/api/v1/reports/"+id.String()).is(200).object()
	if shown["status"] != "Expired" || shown["downloadUrl"] != nil || shown["file"] != nil {
		t.Errorf("shown as %v", shown)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.requested(w.ours, w.ours.member) // so that the witness has a place in the log
	id := w.requested(w.ours, w.ours.member)
	w.ready(w.ours, id, pdfText)
	verify := func(as person, text string) map[string]any {
		return w.do(request{method: "POST", path: "/api/v1/reports/verify", as: as, body: text, header: map[string]string{"Content-Type": "application/pdf"}}).is(200).object()
	}
	known := verify(w.ours.viewer, pdfText)
	if known["known"] != true || known["chain"] != "ok" || known["report"].(map[string]any)["id"] != id.String() {
		t.Errorf("ours: %v", known)
	}
	if got := verify(w.ours.viewer, pdfText+" "); got["known"] != false {
		t.Errorf("changed by one byte: %v", got)
	}
	if got := verify(w.theirs.admin, pdfText); got["known"] != false {
		t.Errorf("another organization learns of it: %v", got)
	}
	w.do(request{method: "POST", path: "/api/v1/reports/verify", as: w.ours.viewer, body: "{}"}).problem(415, "unsupported_media_type")
	pgtest.Unguard(t, w.deps.DB)
	w.deps.DB.MustExec(`UPDATE events SET hash = digest WHERE log = 'reports'`)
	if got := verify(w.ours.viewer, pdfText); got["chain"] != "broken" {
		t.Errorf("with a forged log: %v", got)
	}
}

func TestExports(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ready, queued := w.requested(w.ours, w.ours.member, w.ours.viewer.ID), w.requested(w.ours, w.ours.member, w.ours.viewer.ID)
	gone := w.requested(w.ours, w.ours.member, w.ours.viewer.ID)
	w.requested(w.ours, w.ours.admin)
	w.ready(w.ours, ready, pdfText)
	w.building(w.ours, gone)
	w.failed(w.ours, gone)
	first := w.get(w.ours.viewer, "/api/v1/exports?limit=1").is(200).object()
	if got := first["items"].([]any)[0].(map[string]any)["id"]; got != queued.String() || first["unseenCount"] != 1.0 {
		t.Errorf("first page %v", first)
	}
	second := w.get(w.ours.viewer, "/api/v1/exports?limit=1&cursor="+first["nextCursor"].(string)).is(200).object()
	if got := second["items"].([]any)[0].(map[string]any)["id"]; got != ready.String() || second["nextCursor"] != nil {
		t.Errorf("second page %v", second)
	}
	w.post(w.ours.viewer, "/api/v1/exports/seen", map[string]any{"upTo": ready}).is(204)
	if got := w.get(w.ours.viewer, "/api/v1/exports").is(200).object()["unseenCount"]; got != 0.0 {
		t.Errorf("unseen %v", got)
	}
	w.get(w.ours.viewer, "/api/v1/exports?cursor=x").problem(400, "invalid_cursor")
}
