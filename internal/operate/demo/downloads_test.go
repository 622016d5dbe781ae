package demo_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
)

// Whoever of the team reads a report fetches it once, when it is ready and as long as it
// is offered.
func TestPeopleFetchTheirReports(t *testing.T) {
	t.Parallel()
	s, o := newFilledScene(t)
	must(t, s.DownloadOnce(t.Context(), o))
	if n := s.count(`events WHERE type = 'report.downloaded'`); n > 0 {
		t.Fatalf("%d fetched what is not built", n)
	}
	var security, scorecard uuid.UUID
	for id, kind := range map[*uuid.UUID]string{&security: "Security", &scorecard: "InstanceScorecard"} {
		must(t, s.db.Get(id, `SELECT stream_id FROM events WHERE type = 'report.queued' AND convert_from(data, 'UTF8')::jsonb ->> 'kind' = $1`, kind))
	}
	s.ready(o.ID, security, day)
	s.ready(o.ID, scorecard, time.Minute)
	s.clock.Advance(2 * time.Minute) // the scorecard is offered no more
	for range 2 {
		must(t, s.DownloadOnce(t.Context(), o))
		s.clock.Advance(70 * time.Minute)
	}
	got := s.tally(`SELECT m.name || ' fetched ' || (e.stream_id = '` + security.String() + `') FROM events e
		JOIN members m ON m.id::text = convert_from(e.data, 'UTF8')::jsonb ->> 'memberId' WHERE e.type = 'report.downloaded'`)
	if diff := cmp.Diff(map[string]int{"Ana Ruiz fetched true": 1, "Jonas Weber fetched true": 1}, got); diff != "" {
		t.Errorf("fetched (-want +got):\n%s", diff)
	}
}

// ready builds a report whose file nobody looks into.
func (s *scene) ready(organization, id uuid.UUID, offered time.Duration) {
	s.Helper()
	ctx := context.WithoutCancel(s.Context())
	digest := strings.Repeat("ab", 32)
	must(s.T, eventstore.Transact(ctx, s.db, func(tx *sqlx.Tx) error {
		_, err := s.Commands.StartBuild(ctx, tx, organization, id, "worker", 1, "")
		return err
	}))
	must(s.T, eventstore.Transact(ctx, s.db, func(tx *sqlx.Tx) error {
		_, err := s.Commands.MarkReady(ctx, tx, organization, id, report.Ready{
			AsOf: s.clock.Now(), InputsSHA256: digest, InputsKey: "inputs/" + id.String(), PDFSHA256: digest, PDFKey: "pdf/" + id.String(),
			FileName: "report.pdf", SizeBytes: 1, Pages: 1, RetentionSeconds: int64(offered / time.Second),
		}, nil)
		return err
	}))
}

// TestTheDemoHasOneOfEachSummary: of the month and of the day before, as soon as all alerts are recorded.
func TestTheDemoHasOneOfEachSummary(t *testing.T) {
	t.Parallel()
	s, o := newFilledScene(t)
	s.clock.Advance(2 * time.Minute)
	for range 2 {
		must(t, s.Summarize(t.Context(), o))
	}
	var scopes []string
	must(t, s.db.Select(&scopes, `SELECT convert_from(data, 'UTF8')::jsonb ->> 'scopeLabel' FROM events
		WHERE type = 'report.queued' AND convert_from(data, 'UTF8')::jsonb ->> 'kind' IN ('AlertsSummary', 'PerformanceSla', 'DailyDigest')`))
	if len(scopes) != 3 || !strings.HasPrefix(scopes[0], "Whole organization · ") {
		t.Errorf("the demo's summaries are about %q", scopes)
	}
}
