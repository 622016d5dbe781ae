package demo

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/internal/measurements/backups"
)

// TestOneServerHasAStaleBackup, and all others were backed up a quarter of an hour ago.
func TestOneServerHasAStaleBackup(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 11, 20, 12, 7, 0, 0, time.UTC)
	for _, name := range []string{staleServer, heldServer, "demo-mssql-erp-01"} {
		looks := backedUp(made, []inventory.IDs{{ExternalID: name, ID: uuid.New()}}, made.Add(time.Hour))
		var newest []backups.Newest
		for _, b := range looks[0].Backups {
			newest = append(newest, backups.Newest{Kind: b.Kind, FinishedAt: b.FinishedAt})
		}
		standing := backups.StandingsOf(newest, nil, 24*time.Hour, made.Add(time.Hour))[0]
		if late := standing.State == backups.Late; late != (name == staleServer) || !late && standing.Age > 15*time.Minute {
			t.Errorf("%s: %+v", name, standing)
		}
	}
}
