package changes_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/assessment/changes"
	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestADamagedStateIsReportedAndReplaced: an attacker wrote into the row of a server what the program never
// writes. That is reported, the look after it is recorded, and the next is compared with that.
func TestADamagedStateIsReportedAndReplaced(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	for column, tc := range map[string]struct {
		damage  string
		changes int // that the look after it tells
	}{
		"state": {damage: `[]`},
		"told":  {damage: `{"score": "high"}`, changes: 1},
	} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			organization, instance := uuid.New(), uuid.New()
			at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
			var told []string
			look := func(value string) (fleet.InstanceAssessed, bool) {
				t.Helper()
				at = at.Add(time.Hour)
				tx := db.MustBegin()
				defer func() { _ = tx.Rollback() }()
				scope := changes.Scope{Kind: fleet.ChangedSetting}
				e, news, err := changes.Keep(t.Context(), tx, changes.Look{
					Organization: organization, Instance: instance, Engine: fleet.PostgreSQL, ID: uuid.New(), At: at,
					Assessment: snapshot.Assessment{Outcome: snapshot.OutcomeComplete},
					State:      changes.State{Seen: []changes.Scope{scope}, Items: []changes.Item{{Scope: scope, Name: "fsync", Value: value}}},
					Altered:    func(sentence string) { told = append(told, sentence) },
				})
				if err == nil {
					err = tx.Commit()
				}
				if err != nil {
					t.Fatal(err)
				}
				return e, news
			}
			look("on")
			if _, news := look("on"); news || len(told) > 0 {
				t.Fatalf("before: news %t, told %q", news, told)
			}
			db.MustExec(`UPDATE instance_states SET `+column+` = $2 WHERE instance_id = $1`, instance, tc.damage)
			if e, _ := look("off"); len(e.Changes) != tc.changes {
				t.Errorf("the look after it tells of changes %+v", e.Changes)
			}
			if len(told) != 1 || !strings.Contains(told[0], instance.String()) {
				t.Errorf("told %q", told)
			}
			if e, news := look("on"); !news || len(e.Changes) != 1 || len(told) != 1 {
				t.Errorf("the one after that: news %t, changes %+v, told %q", news, e.Changes, told)
			}
		})
	}
}
