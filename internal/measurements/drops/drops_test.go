package drops_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/drops"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestDropsOfProcessesAreAdded: two of them count the same engine.
func TestDropsOfProcessesAreAdded(t *testing.T) {
	t.Parallel()
	db, log := pgtest.DB(t), slog.New(slog.DiscardHandler)
	early := drops.New(db, log, func() time.Time { return noon })
	late := drops.New(db, log, func() time.Time { return noon.Add(time.Minute) })
	ours, theirs := uuid.New(), uuid.New()
	drop := func(organization uuid.UUID, tile string, err error) measurements.Drop {
		return measurements.Drop{Organization: organization, Tile: tile, Engine: fleet.Oracle, Err: err}
	}
	late.Note(drop(ours, "connections", context.DeadlineExceeded))
	early.Note(drop(ours, "connections", errors.New("boom")))
	early.Note(drop(ours, "connections", errors.New("boom")))
	early.Note(drop(ours, "wait-events", errors.New("boom")))
	early.Note(drop(theirs, "wait-events", errors.New("boom")))
	for _, book := range []*drops.Book{late, early, early} { // what was written is not written again
		must(t, book.Flush(t.Context()))
	}
	got, err := early.List(t.Context(), ours)
	must(t, err)
	want := []drops.DropCount{
		{Tile: "connections", Engine: fleet.Oracle, Drops: 3, LastAt: noon.Add(time.Minute), LastError: "not read in its share of the time"},
		{Tile: "wait-events", Engine: fleet.Oracle, Drops: 1, LastAt: noon, LastError: "could not be read; the log says why"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnwrittenCountsAreKept, and written at the end of Run.
func TestUnwrittenCountsAreKept(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	book := drops.New(db, slog.New(slog.DiscardHandler), func() time.Time { return noon })
	organization := uuid.New()
	d := measurements.Drop{Organization: organization, Tile: "wait-events", Engine: fleet.SQLServer, Err: errors.New("boom")}
	book.Note(d)
	gone, end := context.WithCancel(t.Context())
	end()
	if err := book.Flush(gone); !errors.Is(err, context.Canceled) {
		t.Fatalf("flushed: %v", err)
	}
	book.Note(d)
	if err := book.Run(gone); !errors.Is(err, context.Canceled) {
		t.Fatalf("ran: %v", err)
	}
	got, err := book.List(t.Context(), organization)
	must(t, err)
	if len(got) != 1 || got[0].Drops != 2 {
		t.Errorf("kept %+v", got)
	}
}

// TestNothingOfADriverIsKept: it may quote whatever it likes.
func TestNothingOfADriverIsKept(t *testing.T) {
	t.Parallel()
	book := drops.New(pgtest.DB(t), slog.New(slog.DiscardHandler), func() time.Time { return noon })
	organization := uuid.New()
	errs := map[string]error{
		"timeout": fmt.Errorf("hush: %w", context.DeadlineExceeded),
		"refused": &pgconn.PgError{Code: "53200", Message: "hush", Detail: "hush"},
		"network": &net.OpError{Op: "dial", Err: errors.New("hush")},
		"lost":    fmt.Errorf("hush: %w", &postgres.ConnectionLostError{Err: io.EOF}),
		"other":   errors.New("hush"),
	}
	for tile, err := range errs {
		book.Note(measurements.Drop{Organization: organization, Tile: tile, Engine: fleet.PostgreSQL, Err: err})
	}
	must(t, book.Flush(t.Context()))
	got, err := book.List(t.Context(), organization)
	must(t, err)
	said := map[string]string{}
	for _, d := range got {
		said[d.Tile] = d.LastError
		if strings.Contains(d.LastError, "hush") {
			t.Errorf("%s says %q", d.Tile, d.LastError)
		}
	}
	want := map[string]string{
		"timeout": "not read in its share of the time", "refused": "the database refused the query (SQLSTATE 53200)",
		"network": "the database could not be reached", "lost": "the database could not be reached", "other": "could not be read; the log says why",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
