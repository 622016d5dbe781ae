package commands_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
)

func TestTheWholeLife(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.request(h.actor).ReportID
	ctx, org := t.Context(), h.org.ID
	step := report.StepCompleted{Step: 1, TotalSteps: 3, Label: "Gather"}
	mailed := report.EmailSent{MemberID: h.ana.ID, MessageID: "<1@muster>", SMTPCode: 250}
	// Everything twice: a worker that dies before its acknowledgement does it again.
	for range 2 {
		for _, record := range []func(tx *sqlx.Tx) (usecase.Mark, error){
			func(tx *sqlx.Tx) (usecase.Mark, error) { return h.StartBuild(ctx, tx, org, id, "w1", 1, "") },
			func(tx *sqlx.Tx) (usecase.Mark, error) { return h.CompleteStep(ctx, tx, org, id, step) },
		} {
			h.tx(func(tx *sqlx.Tx) error { _, err := record(tx); return err })
		}
	}
	finished := 0
	for range 2 {
		h.tx(func(tx *sqlx.Tx) error {
			_, err := h.MarkReady(ctx, tx, org, id, built(id), func(r report.Ready) error {
				finished++
				if !r.ExpiresAt.Equal(start.Add(time.Hour)) || len(r.RecipientIDs) != 1 {
					t.Errorf("finishing with %+v", r)
				}
				h.clock.Advance(time.Millisecond) // the window still counts from Ready
				return nil
			})
			return err
		})
	}
	if finished != 1 {
		t.Errorf("finished %d times", finished)
	}
	for range 2 {
		h.tx(func(tx *sqlx.Tx) error { _, err := h.RecordMail(ctx, tx, org, id, mailed, nil, nil); return err })
		if _, err := h.RecordDownload(ctx, h.actor, id, report.PDFFile); err != nil {
			t.Fatal(err)
		}
	}
	h.clock.Advance(time.Hour)
	for range 2 {
		h.tx(func(tx *sqlx.Tx) error { _, err := h.MarkExpired(ctx, tx, org, id); return err })
		h.tx(func(tx *sqlx.Tx) error { _, err := h.RecordInputsErased(ctx, tx, org, id, "retention"); return err })
	}
	want := []string{
		"report.queued", "report.build_started", "report.step_completed", "report.ready", "report.email_sent",
		"report.downloaded", "report.expired", "report.inputs_erased",
	}
	if diff := cmp.Diff(want, h.types(id)); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	if n := h.count("report_claims"); n != 0 {
		t.Errorf("%d claims are left", n)
	}
	var occurred time.Time
	if err := h.db.GetContext(ctx, &occurred, `SELECT occurred_at FROM events WHERE stream_id = $1 AND type = 'report.ready'`, id); err != nil || !occurred.Equal(start) {
		t.Errorf("ready occurred at %s, %v", occurred, err)
	}
}

func TestFailingReleasesTheClaim(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.request(h.actor).ReportID
	failed := report.Failed{Code: report.CodeAbandoned, Message: "It could not be built. Request it again."}
	for range 2 {
		h.tx(func(tx *sqlx.Tx) error { _, err := h.MarkFailed(t.Context(), tx, h.org.ID, id, failed); return err })
	}
	if diff := cmp.Diff([]string{"report.queued", "report.build_started", "report.failed"}, h.types(id)); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	if out := h.request(h.actor); out.Reused {
		t.Error("a failed report is joined")
	}
}

// TestAWorkerThatLosesItsTransactionLeavesTheReportBuilding: if finish refuses (the fence moved
// on), Ready and the released claim are rolled back with it.
func TestAWorkerThatLosesItsTransactionLeavesTheReportBuilding(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.request(h.actor).ReportID
	fenced := errors.New("the fence moved on")
	h.tx(func(tx *sqlx.Tx) error {
		_, err := h.StartBuild(t.Context(), tx, h.org.ID, id, "w1", 1, "")
		return err
	})
	tx, err := h.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.MarkReady(t.Context(), tx, h.org.ID, id, built(id), func(report.Ready) error { return fenced }); !errors.Is(err, fenced) {
		t.Fatalf("error %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if out := h.request(h.actor); !out.Reused || out.ReportID != id {
		t.Errorf("the request is gone: %+v", out)
	}
}

func TestConcurrentMailsAreAllRecorded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var recipients []uuid.UUID
	for i := range report.MaxRecipients - 1 {
		recipients = append(recipients, h.member(fmt.Sprintf("p%d@example.org", i)).ID)
	}
	id := h.request(h.actor, recipients...).ReportID
	h.ready(id)
	together(len(recipients), func(i int) error {
		tx, err := h.db.BeginTxx(t.Context(), nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := h.RecordMail(t.Context(), tx, h.org.ID, id, report.EmailSent{MemberID: recipients[i], MessageID: "<m>"}, nil, nil); err != nil {
			return err
		}
		return tx.Commit()
	}, t)
	if n := h.count("events WHERE stream_id = $1 AND type = 'report.email_sent'", id); n != len(recipients) {
		t.Errorf("%d mails are recorded", n)
	}
}

func TestDownloadsAreRefusedByTheClock(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.request(h.actor).ReportID
	var e *report.TransitionError
	if _, err := h.RecordDownload(t.Context(), h.actor, id, report.PDFFile); !errors.As(err, &e) || e.From != report.StatusQueued {
		t.Errorf("while it is Queued: %v", err)
	}
	h.ready(id)
	h.clock.Advance(time.Hour)
	if _, err := h.RecordDownload(t.Context(), h.actor, id, report.PDFFile); !errors.As(err, &e) || e.From != report.StatusExpired {
		t.Errorf("after its window: %v", err)
	}
}

func TestAReportOfAnotherOrganizationIsUnknown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, eve := h.organization("Other")
	id := h.request(h.actor).ReportID
	h.ready(id)
	for name, id := range map[string]uuid.UUID{"foreign": id, "unknown": uuid.New()} {
		mark, err := h.RecordDownload(t.Context(), h.as(eve), id, report.PDFFile)
		var missing *usecase.NotFoundError
		if !errors.As(err, &missing) || mark.Position != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEventsNameTheirActorAndCause(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.request(h.actor).ReportID
	h.ready(id)
	var got []string
	err := h.db.SelectContext(t.Context(), &got, `SELECT convert_from(metadata, 'UTF8') FROM events WHERE stream_id = $1 ORDER BY version`, id)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		fmt.Sprintf(`{"actorId":%q,"requestId":"r-1","correlationId":%q}`, h.ana.ID, id),
		fmt.Sprintf(`{"actorId":"system:worker","correlationId":%q,"causationId":"reports:1"}`, id),
		fmt.Sprintf(`{"actorId":"system:worker","correlationId":%q,"causationId":"reports:2"}`, id),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	head, err := h.Events.Head(t.Context(), h.db, eventstore.Reports)
	if err != nil || head.Position != 3 {
		t.Errorf("head %+v, %v", head, err)
	}
}
