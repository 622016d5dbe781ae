package logged_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/assessment/logged"
	"muster/internal/pgtest"
	"muster/internal/secrets"
	"muster/internal/snapshot"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// BenchmarkBind is what binding 500 assessments adds to a report: at most 50 ms.
func BenchmarkBind(b *testing.B) {
	key, err := secrets.LoadOrCreate(filepath.Join(b.TempDir(), "key"))
	if err != nil {
		b.Fatal(err)
	}
	db, acme := pgtest.DB(b), uuid.New()
	events, facts := eventstore.New(db), assessment.NewStore(db, key)
	service := &commands.Service{DB: db, Events: events, Now: time.Now}
	const servers = 500
	a := snapshot.Assessment{Outcome: snapshot.OutcomeComplete, VersionText: strings.Repeat("x", 30_000)}
	var sent []assessment.Sent
	var used []logged.Used
	for i := range servers {
		id := uuid.UUID{0: byte(i), 1: byte(i >> 8), 15: 1}
		for n := range 8 {
			sent = append(sent, assessment.Sent{Instance: id, At: time.Now().UTC().Truncate(time.Second).Add(time.Duration(n-9) * time.Hour), Assessment: a})
		}
		used = append(used, logged.Used{Instance: id})
	}
	err = facts.RecordSent(b.Context(), acme, sent, func(tx *sqlx.Tx, told []fleet.Assessed) error {
		_, err := service.RecordAssessmentTx(b.Context(), tx, commands.Actor{OrganizationID: acme, Component: "test"}, told...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range used {
		kept, err := facts.LatestAssessment(b.Context(), acme, used[i].Instance)
		if err != nil {
			b.Fatal(err)
		}
		used[i].ID, used[i].At, used[i].SHA256, used[i].Reached = kept.ID, kept.At, kept.SHA256, true
	}
	pgtest.Unguard(b, db) // each was recorded when it was made
	db.MustExec(`UPDATE events SET recorded_at = (convert_from(data, 'UTF8')::json ->> 'at')::timestamptz`)
	db.MustExec(`VACUUM ANALYZE`)
	reader := &logged.Reader{Facts: facts, Log: events, Decode: commands.Registry().Decode}
	for b.Loop() {
		bound, altered, err := reader.Bind(b.Context(), acme, used, time.Now())
		if err != nil || len(altered) > 0 || len(bound) != servers {
			b.Fatal(len(bound), altered, err)
		}
	}
}
