package handlers_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/files/blobs"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

func TestRebuildAnswers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	stop := s.work("w1", s.tasks()...)
	s.until("the mail is recorded", func() bool { return s.has(id, "report.email_sent") })
	ready, _ := last[report.Ready](s, id)
	rebuild := func(renderer handlers.Renderer) (handlers.RebuildOutcome, []byte) {
		t.Helper()
		var out bytes.Buffer
		o, err := s.rebuilder(renderer).Rebuild(t.Context(), id, &out)
		if err != nil {
			t.Fatal(err)
		}
		return o, out.Bytes()
	}
	answers := func(name string, o handlers.RebuildOutcome, verdict handlers.RebuildVerdict, exit int, says string) {
		t.Helper()
		if o.Verdict != verdict || o.ExitStatus() != exit || !strings.Contains(o.String(), says) {
			t.Errorf("%s: %s (%d) %q, want %s (%d) with %q", name, o.Verdict, o.ExitStatus(), o, verdict, exit, says)
		}
	}

	o, file := rebuild(s.renderer())
	answers("untouched", o, handlers.Identical, 0, ready.PDFSHA256)
	if snapshot.Digest(file) != ready.PDFSHA256 {
		t.Error("what was written is not the recorded PDF")
	}
	table := s.rebuilder(s.renderer())
	table.File = report.FindingsFile
	var again bytes.Buffer
	if o, err := table.Rebuild(t.Context(), id, &again); err != nil || o.Verdict != handlers.Identical || snapshot.Digest(again.Bytes()) != ready.Files[0].SHA256 {
		t.Errorf("the table: %v %v, SHA-256 %s, recorded is %s", o, err, snapshot.Digest(again.Bytes()), ready.Files[0].SHA256)
	}
	table.File = report.InventoryFile
	var none *handlers.NoSuchFileError
	if _, err := table.Rebuild(t.Context(), id, &again); !errors.As(err, &none) {
		t.Errorf("the table of another kind: %v", err)
	}
	o, _ = rebuild(crooked{s.renderer()})
	answers("a renderer that renders otherwise", o, handlers.Differs, 1, "differs")
	other, err := pdf.New(pdf.Build{Version: "2.0", Commit: "beef"})
	if err != nil {
		t.Fatal(err)
	}
	o, _ = rebuild(other)
	answers("another renderer", o, handlers.OtherRenderer, 3, "Run version test (commit c0ffee")

	// A Ready that names other pages, with the digest that it had.
	pgtest.Unguard(t, s.db)
	const pages = `UPDATE events SET data = convert_to(replace(convert_from(data, 'UTF8'), $1, $2), 'UTF8') WHERE type = 'report.ready'`
	was := fmt.Sprintf(`"pages":%d,`, ready.Pages)
	s.db.MustExec(pages, was, `"pages":0,`)
	o, file = rebuild(s.renderer())
	answers("an altered Ready", o, handlers.RecordAltered, 1, "(report.ready) was changed")
	if len(file) != 0 {
		t.Error("a PDF is built from what an altered event says")
	}
	s.db.MustExec(pages, `"pages":0,`, was)

	inputs := filepath.Join(s.files, ready.InputsKey)
	original, err := os.ReadFile(inputs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.blobs.WriteInputs(t.Context(), ready.InputsKey, strings.NewReader(`{"schema":1}`)); err != nil {
		t.Fatal(err)
	}
	o, _ = rebuild(s.renderer())
	answers("other inputs in place", o, handlers.InputsMismatch, 1, "was changed")
	if err := os.WriteFile(inputs, original[:len(original)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	o, _ = rebuild(s.renderer())
	answers("half of the inputs", o, handlers.InputsMismatch, 1, "was changed")
	if err := os.Remove(inputs); err != nil {
		t.Fatal(err)
	}
	o, _ = rebuild(s.renderer())
	answers("inputs gone", o, handlers.InputsMissing, 1, "no event says")

	s.due(jobs.Erase)
	s.until("erased", func() bool { return s.has(id, "report.inputs_erased") })
	stop()
	o, _ = rebuild(s.renderer())
	answers("erased", o, handlers.InputsErased, 4, "by rule retention")
}

// TestRebuildChecksTheTableAgainstItsDigest: the log names another one than the inputs give.
func TestRebuildChecksTheTableAgainstItsDigest(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	doc, err := s.gatherer.Gather(t.Context(), handlers.Gathering{OrganizationID: s.organization, ReportID: id, Queued: report.Queued{Kind: report.Security}})
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := snapshot.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := s.renderer().Render(io.Discard, doc)
	if err != nil {
		t.Fatal(err)
	}
	key := blobs.InputsName(s.organization, id, 1)
	if _, err := s.blobs.WriteInputs(t.Context(), key, bytes.NewReader(inputs)); err != nil {
		t.Fatal(err)
	}
	err = eventstore.Transact(t.Context(), s.db, func(tx *sqlx.Tx) error {
		if _, err := s.commands.StartBuild(t.Context(), tx, s.organization, id, "w1", 1, ""); err != nil {
			return err
		}
		_, err := s.commands.MarkReady(t.Context(), tx, s.organization, id, report.Ready{
			InputsSHA256: snapshot.Digest(inputs), InputsKey: key, PDFSHA256: rendered.SHA256, PDFKey: "x", FileName: "x.pdf", SizeBytes: 1, Pages: 1,
			RetentionSeconds: 3600, Renderer: s.renderer().Identity(),
			Files: []report.File{{Name: report.FindingsFile, Key: "y", SizeBytes: 1, SHA256: strings.Repeat("ab", 32)}},
		}, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if o := s.rebuild(id); o.Verdict != handlers.Differs || o.ExitStatus() != 1 || !strings.Contains(o.String(), "a findings.csv with SHA-256 ") {
		t.Errorf("a rebuild says %q (%d)", o, o.ExitStatus())
	}
}

// crooked claims to be a renderer that it is not.
type crooked struct{ *pdf.Renderer }

func (c crooked) RenderCanonical(w io.Writer, inputs snapshot.Canonical) (pdf.Rendered, error) {
	inputs.Document.Organization.Name += "!"
	return c.Renderer.RenderCanonical(w, inputs)
}

func TestRebuildOfAnUnbuiltReport(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	r := s.rebuilder(s.renderer())
	var unbuilt *handlers.NotBuiltError
	if _, err := r.Rebuild(t.Context(), id, &bytes.Buffer{}); !errors.As(err, &unbuilt) || unbuilt.Status != report.StatusQueued {
		t.Errorf("queued: %v", err)
	}
	var unknown *handlers.UnknownReportError
	if _, err := r.Rebuild(t.Context(), uuid.New(), &bytes.Buffer{}); !errors.As(err, &unknown) {
		t.Errorf("unknown: %v", err)
	}
}

// TestTheSweepTakesFilesOfADeletedOrganization: those of a report that was Ready, and those
// that a worker wrote for one that it was building.
func TestTheSweepTakesFilesOfADeletedOrganization(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	built := s.request(s.ana)
	stop := s.work("w1", s.builder().Task(1))
	s.until("Ready", func() bool { return s.has(built, "report.ready") })
	stop()
	waiting := s.requestKind(report.DataInventory)
	if _, err := s.blobs.WritePDF(t.Context(), blobs.PDFName(s.organization, waiting, 1), strings.NewReader("late")); err != nil {
		t.Fatal(err)
	}
	if err := eventstore.Transact(t.Context(), s.db, func(tx *sqlx.Tx) error { return s.accounts.DeleteOrganization(t.Context(), tx, s.organization) }); err != nil {
		t.Fatal(err)
	}
	s.sweep()
	if left := s.stored(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestTheSweepTakesStraysOnly(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	built, unknown := s.request(s.ana), uuid.New()
	stop := s.work("w1", s.builder().Task(1))
	s.until("Ready", func() bool { return s.has(built, "report.ready") })
	stop()
	waiting := s.requestKind(report.DataInventory)
	ready, _ := last[report.Ready](s, built)

	write := func(id uuid.UUID, fence int64) string {
		t.Helper()
		name := blobs.PDFName(s.organization, id, fence)
		if _, err := s.blobs.WritePDF(t.Context(), name, strings.NewReader("stray")); err != nil {
			t.Fatal(err)
		}
		return name
	}
	ofAnEarlierAttempt := write(built, 999_999)
	interrupted := filepath.Join(s.files, ofAnEarlierAttempt+".18ab.tmp")
	if err := os.WriteFile(interrupted, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	beingBuilt := write(waiting, 999_998)
	ofNobody := write(unknown, 1)

	if swept := s.sweep(); swept.Deleted != 2 || swept.Looked != 9 {
		t.Errorf("swept %+v, want 2 of 9", swept)
	}
	if got, want := s.stored(), append(files(ready), ready.InputsKey, beingBuilt, ofNobody); !equalSets(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
	s.clock.Advance(2 * time.Hour)
	if swept := s.sweep(); swept.Deleted != 1 {
		t.Errorf("swept %+v, want the one of a report that nobody knows", swept)
	}
	if got, want := s.stored(), append(files(ready), ready.InputsKey, beingBuilt); !equalSets(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
}

func equalSets(a, b []string) bool {
	return strings.Join(sorted(a...), " ") == strings.Join(sorted(b...), " ")
}
