package httpapi

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/postgres"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
	"muster/internal/testing/pgtest"
)

func TestABusyDatabaseIsReportedAsUnavailable(t *testing.T) {
	t.Parallel()
	state := func(code string) error { return fmt.Errorf("append: %w", &pgconn.PgError{Code: code}) }
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"starting":             {state("57P03"), true},
		"connection lost":      {state("08006"), true},
		"too many connections": {state("53300"), true},
		"lock not got":         {state("55P03"), true},
		"idled too long":       {state("25P03"), true},
		"deadlock":             {state("40P01"), true},
		"a full disk":          {state("53100"), true},
		"a disk that fails":    {state("58030"), true},
		"another writer first": {fmt.Errorf("append: %w", &eventstore.ConflictError{Expected: 1, Actual: 2}), true},
		"being stopped":        {state("57P01"), true},
		"died":                 {state("57P02"), true},
		"lost while it spoke":  {fmt.Errorf("append: %w", &postgres.ConnectionLostError{Err: io.EOF}), true},
		"lost before":          {fmt.Errorf("append: %w", driver.ErrBadConn), true},
		"no answer in time":    {fmt.Errorf("append: %w", context.DeadlineExceeded), true},
		"a file that is cut":   {fmt.Errorf("read inputs: %w", io.ErrUnexpectedEOF), false},
		"a wrong statement":    {state("42601"), false},
		"a broken constraint":  {state("23514"), false},
		"anything else":        {errors.New("no such thing"), false},
	} {
		if got := isUnavailable(c.err); got != c.want {
			t.Errorf("%s: unavailable is %v", name, got)
		}
	}
}

// TestAnUnreachableMeasurementStoreIsNamed, and not the database, whatever kept Muster from it. The caller does
// not learn its address.
func TestAnUnreachableMeasurementStoreIsNamed(t *testing.T) {
	t.Parallel()
	s := &server{Front: Front{Log: slog.New(slog.DiscardHandler)}}
	for _, why := range []error{&net.OpError{Op: "dial"}, context.DeadlineExceeded, io.EOF, errors.New("Authentication failed")} {
		err := fmt.Errorf("read blocks: %w", &blocks.UnavailableError{Part: "ClickHouse on clicks:9000", Err: why})
		if p := s.toProblem(t.Context(), err); p.Code != "unavailable" || !strings.Contains(p.Detail, "older measurements") || strings.Contains(p.Detail, "clicks") {
			t.Errorf("%v: %s %s", why, p.Code, p.Detail)
		}
	}
}

func TestOnlyASilentDatabaseIsBlamedForATimeout(t *testing.T) {
	t.Parallel()
	s := &server{Front: Front{Log: slog.New(slog.DiscardHandler)}}
	db := pgtest.DB(t)
	over, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-over.Done()
	brief := func() context.Context {
		ctx, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
		t.Cleanup(done)
		return ctx
	}
	_, own := db.ExecContext(brief(), `SELECT pg_sleep(10)`)
	none := func(*sqlx.Tx) error { return nil }
	for name, c := range map[string]struct {
		err  error
		told string
	}{
		"no connection in time":      {statement.Exec(over, db, "write", `SELECT 1`), databaseLate},
		"a statement that is slow":   {statement.Exec(brief(), db, "write", `SELECT pg_sleep(10)`), databaseLate},
		"a driver's own":             {fmt.Errorf("read: %w", own), databaseLate},
		"no transaction in time":     {transact.Once(over, db, nil, none), databaseLate},
		"a server that says nothing": {fmt.Errorf("ask: %w", context.DeadlineExceeded), late},
		"a wait for a turn":          {over.Err(), late},
		"a receiver":                 {&url.Error{Op: "Post", Err: context.DeadlineExceeded}, late},
	} {
		if !errors.Is(c.err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, c.err)
		}
		if p := s.toProblem(t.Context(), c.err); p.Code != "unavailable" || p.Detail != c.told+" Try again." {
			t.Errorf("%s: %s %s", name, p.Code, p.Detail)
		}
	}
}

// TestAMissingSideFigureHasAReason: in words that fit a figure, and nothing of the error's text.
func TestAMissingSideFigureHasAReason(t *testing.T) {
	t.Parallel()
	s := &server{Front: Front{Log: slog.New(slog.DiscardHandler)}}
	away := &blocks.UnavailableError{Part: "ClickHouse on clicks:9000", Err: context.DeadlineExceeded}
	since := time.Date(2026, 11, 26, 18, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		err            error
		code, sentence string
	}{
		"a shard that says nothing": {fmt.Errorf("read hosts: %w", away), "unavailable", "older measurements are kept on is not responding"},
		"out of time":               {fmt.Errorf("read hosts: %w", context.DeadlineExceeded), "unavailable", "It could not be read in time."},
		"a busy database":           {fmt.Errorf("read hosts: %w", &pgconn.PgError{Code: "55P03"}), "unavailable", "The database is not available or too busy."},
		"not kept":                  {fmt.Errorf("read hosts: %w", &measurements.NotKeptError{Since: since}), "detail_not_kept", "kept since 2026-11-26T18:00:00Z."},
		"ours":                      {errors.New("clicks: no such column"), "internal_error", "the log has the reason"},
	} {
		code, sentence := s.explain(t.Context(), []string{"cpu"}, c.err)
		if code != c.code || !strings.Contains(sentence, c.sentence) || strings.Contains(sentence, "clicks") || strings.Contains(sentence, "change") {
			t.Errorf("%s: %s, %s", name, code, sentence)
		}
	}
}
