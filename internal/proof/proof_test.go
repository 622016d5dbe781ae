package proof_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/proof"
	"muster/internal/proof/prooftest"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/fleet"
	"muster/projections/history"
	"muster/projections/projectionstest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// scene is an organization with two reports that are Ready. The second carries
// the last event of the first as its witness; others were asked for between and after.
type scene struct {
	*testing.T
	db      *sqlx.DB
	service *commands.Service
	maker   *proof.Maker
	prover  *proof.Prover
	org     uuid.UUID
	actor   usecase.Actor
	witness eventstore.Head
	report  uuid.UUID
	digest  string // of the second report's PDF
	events  []eventstore.Event
}

func newScene(t *testing.T) *scene {
	t.Helper()
	db := pgtest.DB(t)
	events, people := eventstore.New(db), accounts.New(db, time.Now)
	s := &scene{T: t, db: db, service: commands.New(usecase.Base{DB: db, Events: events, Accounts: people, Now: time.Now}, commands.Needs{
		Instances: fleet.NewReader(db), Jobs: jobs.NewQueue(db),
	})}
	admin := &commands.NewMember{Email: "ana@example.org", Name: "Ana", Role: organization.Admin, Password: "a long enough sentence"}
	o, ana, _, err := s.service.CreateOrganization(t.Context(), "Example", false, admin)
	must(t, err)
	s.org, s.actor = o.ID, usecase.Actor{OrganizationID: o.ID, MemberID: ana.ID}
	s.maker = prooftest.New(t, db, events)
	s.prover = s.maker.Prover

	s.ready(report.Security, "first")
	s.witness, err = events.Head(t.Context(), db, eventstore.Reports)
	must(t, err)
	s.request(report.Security) // an event between the witness and what the links reach
	s.report, s.digest = s.ready(report.DataInventory, "second")
	mark := s.request(report.Security).Mark
	for e, err := range events.Load(t.Context(), db, s.org, s.report) {
		must(t, err)
		s.events = append(s.events, e)
	}
	s.project(mark)
	return s
}

// project fills the history, and stops: nothing reads the log after it was
// tampered with but the prover.
func (s *scene) project(mark usecase.Mark) {
	s.Helper()
	decode := usecase.Registry().Decode
	runner := projections.NewRunner(s.db, pgtest.URL(s.T), slog.New(slog.DiscardHandler), history.Projection(decode))
	must(s.T, runner.Prepare(s.Context()))
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan error, 1)
	go func() { done <- runner.Run(ctx) }()
	projectionstest.Follow(s, runner, mark.Log, mark.Position)
	cancel()
	<-done
}

func (s *scene) request(kind report.Kind) commands.RequestedReport {
	s.Helper()
	asked, err := s.service.RequestReport(s.Context(), s.actor, commands.RequestReport{Kind: kind})
	must(s.T, err)
	return asked
}

func (s *scene) ready(kind report.Kind, content string) (id uuid.UUID, digest string) {
	s.Helper()
	sum := sha256.Sum256([]byte(content))
	digest = hex.EncodeToString(sum[:])
	id = s.request(kind).ReportID
	for _, record := range []func(tx *sqlx.Tx) error{
		func(tx *sqlx.Tx) error {
			_, err := s.service.StartBuild(s.Context(), tx, s.org, id, "w", 1, "")
			return err
		},
		func(tx *sqlx.Tx) error {
			marked, err := prooftest.Marked(s.Context(), s.maker, tx, s.org, id, report.Ready{
				AsOf: time.Now(), InputsSHA256: digest, InputsKey: "i", PDFSHA256: digest, PDFKey: "p", FileName: "f.pdf",
				SizeBytes: 1, Pages: 1, RetentionSeconds: 3600,
				Witness: report.Witness{Log: string(s.witness.Log), Position: s.witness.Position, Hash: hex.EncodeToString(s.witness.Hash)},
			})
			if err == nil {
				_, err = s.service.MarkReady(s.Context(), tx, s.org, id, marked, nil)
			}
			return err
		},
		func(tx *sqlx.Tx) error {
			_, err := s.service.RecordMail(s.Context(), tx, s.org, id, report.EmailSent{MemberID: s.actor.MemberID, MessageID: "<m>"}, nil, nil)
			return err
		},
	} {
		tx := s.db.MustBegin()
		if err := record(tx); err != nil {
			_ = tx.Rollback()
			s.Fatal(err)
		}
		must(s.T, tx.Commit())
	}
	return id, digest
}

// on is the scene in a subtest, with the log and the history as they were made:
// the next one finds them so again.
func (s scene) on(t *testing.T) *scene {
	t.Helper()
	s.T = t
	pgtest.Unguard(t, s.db)
	s.db.MustExec(`CREATE TABLE whole AS TABLE events`)
	digest := s.digest
	t.Cleanup(func() {
		s.db.MustExec(`DELETE FROM events; INSERT INTO events TABLE whole; DROP TABLE whole`)
		s.exec(`UPDATE `+s.historyTable()+` SET pdf_sha256 = $1 WHERE id = $2`, digest, s.report)
	})
	return &s
}

// exec tampers with the database as its administrator could.
func (s *scene) exec(statement string, args ...any) {
	s.Helper()
	if n, err := s.db.MustExecContext(context.WithoutCancel(s.Context()), statement, args...).RowsAffected(); err != nil || n != 1 {
		s.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

// event is version n of the second report.
func (s *scene) event(n int) eventstore.Event { return s.events[n-1] }

// forge changes what an event says and hashes it again, so that the event by
// itself is whole.
func (s *scene) forge(e eventstore.Event, old, changed string) {
	s.Helper()
	var previous []byte
	must(s.T, s.db.Get(&previous, `SELECT hash FROM events WHERE log = $1 AND position = $2`, e.Log, e.Position-1))
	e.Data = []byte(strings.Replace(string(e.Data), old, changed, 1))
	digest := eventstore.Digest(e)
	link := eventstore.Link(previous, digest[:], e.RecordedAt)
	s.exec(`UPDATE events SET data = $3, digest = $4, hash = $5 WHERE log = $1 AND position = $2`, e.Log, e.Position, e.Data, digest[:], link[:])
}

func TestFaults(t *testing.T) {
	t.Parallel()
	whole := newScene(t)
	const before, witness = 0, -1 // places in the log beside the report's versions
	const ofTheReadModel = "a changed digest of the PDF in the read model"
	const deletion = `DELETE FROM events WHERE log = $1 AND position = $2`
	for name, test := range map[string]struct {
		tamper func(s *scene)
		want   string // %d: the position of version of, which follow one another
		of     int
	}{
		"nothing": {tamper: func(*scene) {}},
		"a changed event": {
			tamper: func(s *scene) {
				s.exec(`UPDATE events SET data = replace(convert_from(data, 'UTF8'), 'DataInventory', 'Security')::bytea WHERE log = $1 AND position = $2`,
					eventstore.Reports, s.event(1).Position)
			}, want: "event reports:%d (report.queued) was changed", of: 1,
		},
		"changed metadata": {
			tamper: func(s *scene) {
				s.exec(`UPDATE events SET metadata = '{}' WHERE log = $1 AND position = $2`, eventstore.Reports, s.event(2).Position)
			}, want: "event reports:%d (report.build_started) was changed", of: 2,
		},
		"a changed time": {
			tamper: func(s *scene) {
				s.exec(`UPDATE events SET recorded_at = recorded_at - interval '1 day' WHERE log = $1 AND position = $2`, eventstore.Reports, s.event(3).Position)
			}, want: "event reports:%d (report.ready) does not follow from the event before it", of: 3,
		},
		"a changed event, hashed again": {
			tamper: func(s *scene) { s.forge(s.event(1), "DataInventory", "Security") },
			want:   "event reports:%d (report.build_started) does not follow from the event before it", of: 2,
		},
		"a version deleted from the middle": {
			tamper: func(s *scene) { s.exec(deletion, eventstore.Reports, s.event(2).Position) },
			want:   "event reports:%d is missing from the log", of: 2,
		},
		"the first version deleted": {
			tamper: func(s *scene) { s.exec(deletion, eventstore.Reports, s.event(1).Position) },
			want:   "version 1 of the report is missing from the log",
		},
		"the last version deleted": {
			tamper: func(s *scene) { s.exec(deletion, eventstore.Reports, s.event(4).Position) },
			want:   "event reports:%d is missing from the log", of: 4,
		},
		"an event before the report's deleted": {
			tamper: func(s *scene) { s.exec(deletion, eventstore.Reports, s.event(1).Position-1) },
			want:   "event reports:%d is missing from the log", of: before,
		},
		"versions swapped": {
			tamper: func(s *scene) {
				s.exec(`UPDATE events SET version = 20 WHERE log = $1 AND position = $2`, eventstore.Reports, s.event(3).Position)
				s.exec(`UPDATE events SET version = 3 WHERE log = $1 AND position = $2`, eventstore.Reports, s.event(4).Position)
				s.exec(`UPDATE events SET version = 4 WHERE log = $1 AND position = $2`, eventstore.Reports, s.event(3).Position)
			}, want: "version 4 of the report stands in the log before the version it follows",
		},
		"a changed digest of the PDF in the event": {
			tamper: func(s *scene) {
				s.exec(`UPDATE events SET data = replace(convert_from(data, 'UTF8'), $3, repeat('0', 64))::bytea WHERE log = $1 AND position = $2`,
					eventstore.Reports, s.event(3).Position, s.digest)
			}, want: "event reports:%d (report.ready) was changed", of: 3,
		},
		ofTheReadModel: {
			tamper: func(s *scene) { s.digest = s.vouchFor("another file") },
			want:   "the log does not say that this report has this file",
		},
		"another event where the footer's head was": {
			tamper: func(s *scene) {
				s.exec(`UPDATE events SET hash = sha256(hash) WHERE log = $1 AND position = $2`, eventstore.Reports, s.witness.Position)
			}, want: "the log no longer holds the head reports:%d that the PDF carries", of: witness,
		},
		"the event at the footer's head deleted": {
			tamper: func(s *scene) { s.exec(deletion, eventstore.Reports, s.witness.Position) },
			want:   "the log no longer holds the head reports:%d that the PDF carries", of: witness,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := whole.on(t)
			test.tamper(s)
			want := test.want
			if strings.Contains(want, "%d") {
				want = fmt.Sprintf(want, map[bool]int64{true: s.witness.Position, false: s.event(1).Position + int64(test.of) - 1}[test.of == witness])
			}
			found, ok, err := s.prover.Of(t.Context(), s.org, s.digest, time.Now())
			if err != nil || !ok || found.Row.ID != s.report || found.Fault != want {
				t.Errorf("ok %t, error %v, fault\n%q, not\n%q", ok, err, found.Fault, want)
			}
			// Whatever PDF there is, the report's own record says the same.
			if fault, err := s.prover.Record(t.Context(), s.org, s.report); err != nil || fault != want && name != ofTheReadModel {
				t.Errorf("error %v, the record's fault\n%q, not\n%q", err, fault, want)
			}
		})
	}
}

// vouchFor makes the history say that the second report is another file.
func (s *scene) vouchFor(content string) string {
	s.Helper()
	sum := sha256.Sum256([]byte(content))
	digest := hex.EncodeToString(sum[:])
	s.exec(`UPDATE `+s.historyTable()+` SET pdf_sha256 = $1 WHERE id = $2`, digest, s.report)
	return digest
}

func (s *scene) historyTable() (table string) {
	s.Helper()
	must(s.T, s.db.Get(&table, `SELECT format('%I.%I', table_schema, table_name) FROM information_schema.columns
		JOIN information_schema.tables USING (table_schema, table_name)
		WHERE column_name = 'pdf_sha256' AND table_schema LIKE 'report\_history\_v%\_g%' AND table_type = 'BASE TABLE'`))
	return table
}

func TestUnknownAndForeign(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	nothing := sha256.Sum256(nil)
	for name, ask := range map[string]struct {
		org    uuid.UUID
		digest string
	}{
		"a file of nobody's":              {s.org, hex.EncodeToString(nothing[:])},
		"another organization's file":     {uuid.New(), s.digest},
		"something that is no digest":     {s.org, "'; --"},
		"the digest of nothing known yet": {s.org, ""},
	} {
		if p, ok, err := s.prover.Of(t.Context(), ask.org, ask.digest, time.Now()); ok || err != nil || p.Fault != "" {
			t.Errorf("%s: known %t, %v", name, ok, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
