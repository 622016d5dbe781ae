package serverfacts

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/backups"
	"muster/internal/report/snapshot"
)

// TestABackupOfTheServerIsOfNoDatabase, also not of one that only an assessment has seen, which has no id yet.
func TestABackupOfTheServerIsOfNoDatabase(t *testing.T) {
	t.Parallel()
	in := &snapshot.Instance{ID: uuid.New(), Databases: []snapshot.Database{{ID: uuid.New(), Name: "app"}, {Name: "seen"}}}
	late := []backups.Standing{{Database: uuid.Nil, State: backups.Late, Age: 48 * time.Hour}, {Database: uuid.New(), State: backups.Late}}
	if got := standing(in, late, 24*time.Hour); got == nil || got.Late != 1 || got.Worst.Database != "" {
		t.Errorf("%+v", got)
	}
}
