package pgstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
)

// TestNothingOfADeletedSeriesIsKept: a writer that found the series and waited
// for their deletion stores nothing.
func TestNothingOfADeletedSeriesIsKept(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(measured(codec.Hosts, "a", monday, 1))
	tx, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `DELETE FROM measured_series WHERE organization_id = $1`, s.org); err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := s.try(measured(codec.Hosts, "a", monday.Add(time.Minute), 2))
		wrote <- err
	}()
	awaitWaiter(s)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	var deleted *measurements.DeletedError
	if err := <-wrote; !errors.As(err, &deleted) || deleted.Organization != s.org {
		t.Errorf("the writer is told %v", err)
	}
	if n := s.count(`SELECT count(*) FROM raw_samples WHERE series_id NOT IN (SELECT id FROM measured_series) AND at > $1`, monday); n > 0 {
		t.Errorf("%d samples of no series", n)
	}
}

// TestAllMeasurementsOfAnOrganizationAreDeleted, and nothing of another one.
func TestAllMeasurementsOfAnOrganizationAreDeleted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	one := s.org
	s.write(measured(codec.Hosts, "a", monday, 1), measured(codec.Sessions, "b", monday, 2))
	s.rollAll()
	s.check()
	gone := s.shown()
	s.afresh()
	s.write(measured(codec.Hosts, "a", monday, 3), measured(codec.Sessions, "b", monday, 4))
	s.rollAll()
	elsewhere := &forgetful{Store: s.ledger.Blocks}
	s.ledger.Blocks = elsewhere
	if err := s.DeleteOrganization(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(elsewhere.forgot, []uuid.UUID{one}) {
		t.Errorf("of blocks elsewhere it deletes those of %v", elsewhere.forgot)
	}
	s.check()
	if len(gone) == 0 {
		t.Error("there was nothing to delete")
	}
	var tables []string
	err := s.db.SelectContext(t.Context(), &tables, `SELECT table_name::text FROM information_schema.columns WHERE column_name = 'series_id' AND table_schema = 'public'`)
	if err != nil || len(tables) == 0 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, table := range tables {
		if n := s.count(`SELECT count(*) FROM ` + table + ` WHERE series_id NOT IN (SELECT id FROM measured_series)`); n > 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
}

// forgetful notes whose blocks it is to delete.
type forgetful struct {
	blocks.Store
	forgot []uuid.UUID
}

func (f *forgetful) DeleteOrganization(ctx context.Context, organization uuid.UUID) error {
	f.forgot = append(f.forgot, organization)
	return f.Store.DeleteOrganization(ctx, organization)
}
