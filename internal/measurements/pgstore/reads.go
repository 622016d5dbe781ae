package pgstore

import (
	"context"
	_ "embed" // the statements
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/statement"
)

var (
	//go:embed sql/hosts_in_scope.sql
	hostsInScope string
	//go:embed sql/instances_in_scope.sql
	instancesInScope string
	//go:embed sql/read_minutes.sql
	readMinutes string
	//go:embed sql/read_hours.sql
	readHours string
	//go:embed sql/read_days.sql
	readDays string
)

// level is where the buckets of a size are: a statement, the width of a row, and which
// of its slots they are.
type level struct {
	statement  string
	row        timegrid.Size
	first, end int
}

func levelOf(size timegrid.Size) level {
	switch size {
	case timegrid.Minute:
		return level{readMinutes, timegrid.Hour, 0, codec.MinutesOfHour}
	case timegrid.Hour:
		return level{readHours, timegrid.Day, 0, restOfDay}
	case timegrid.Day:
		return level{readDays, timegrid.Week, 0, weekItself}
	}
	return level{readDays, timegrid.Week, weekItself, restOfWeek}
}

// window is a window as its rows are read.
type window struct {
	timegrid.Window
	level
	buckets int
}

func windowOf(w timegrid.Window) window { return window{w, levelOf(w.Size), w.Len()} }

// stretch is what a row of the window has.
func (w window) stretch(start time.Time, row []byte) (codec.Stretch, error) {
	of := w.Index(start) - w.first // the bucket of slot 0
	return codec.Cut(row, of, max(0, of+w.first), min(w.buckets, of+w.end))
}

// readRows hands what the rows of some series have within the window to take; of
// sessions only what is shown.
func (s *Store) readRows(ctx context.Context, w window, kind string, series []int64, take func(series int64, s codec.Stretch) error) error {
	return s.eachRow(ctx, w, kind == codec.Sessions, series, func(id int64, start time.Time, row []byte) error {
		part, err := w.stretch(start, row)
		if err != nil {
			return err
		}
		return take(id, part)
	})
}

// eachRow hands the rows of some series that the window touches to take, whole or what
// is shown of sessions. The bytes are good until take returns: they are where the driver
// read them, because making a copy of 24,000 rows takes as long as reading them.
func (s *Store) eachRow(ctx context.Context, w window, shown bool, series []int64, take func(series int64, start time.Time, row []byte) error) error {
	if len(series) == 0 {
		return nil
	}
	err := s.eachRaw(ctx, w.statement, func(raw [][]byte) error {
		if len(raw) != 3 || len(raw[0]) != 8 || len(raw[1]) != 8 {
			return codec.ErrBytes
		}
		id := int64(binary.BigEndian.Uint64(raw[0]))
		if err := take(id, pgTime(raw[1]), raw[2]); err != nil {
			return fmt.Errorf("series %d: %w", id, err)
		}
		return nil
	}, series, w.row.Floor(w.Start()), w.End(), shown)
	if err != nil {
		return fmt.Errorf("read the %s of %d series: %w", w.Size, len(series), err)
	}
	return nil
}

// eachRaw hands the rows of a statement to take as they are in the binary protocol. The
// bytes are good until take returns: they are where the driver read them.
func (s *Store) eachRaw(ctx context.Context, query string, take func(row [][]byte) error, args ...any) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(driver any) error {
		rows, err := driver.(*stdlib.Conn).Conn().Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := take(rows.RawValues()); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// pgTime is a timestamptz of the binary protocol: microseconds since 2000.
func pgTime(raw []byte) time.Time {
	const epoch = 946_684_800 * 1_000_000
	return time.UnixMicro(int64(binary.BigEndian.Uint64(raw)) + epoch).UTC()
}

// readInstances hands what the rows of an engine's instances in scope have within the
// window to take, as readRows does, and says whether some of it is of a part only.
func (s *Store) readInstances(ctx context.Context, organization uuid.UUID, kind string, engine fleet.Engine, scope fleet.Scope, w window, take func(codec.Stretch) error) (partial bool, err error) {
	found, err := s.inScope(ctx, organization, kind, engine, scope)
	if err != nil {
		return false, err
	}
	return found.arePartial(w.Start(), w.End()), s.readRows(ctx, w, kind, found.ids(), func(_ int64, part codec.Stretch) error { return take(part) })
}

// subject is a series, and the host or the instance that it is of.
type subject struct {
	ID          int64
	Subject     string
	PartialFrom *time.Time `db:"partial_from"` // of an instance: samples of a part only
	PartialTo   *time.Time `db:"partial_to"`
}

// instance is the one that the series is of.
func (s subject) instance() (uuid.UUID, error) {
	id, err := uuid.Parse(s.Subject)
	if err != nil {
		return id, fmt.Errorf("series %d: %w", s.ID, err)
	}
	return id, nil
}

type subjects []subject

func (s subjects) ids() []int64 {
	ids := make([]int64, len(s))
	for i, one := range s {
		ids[i] = one.ID
	}
	return ids
}

// inScope finds the series of an engine's instances.
func (s *Store) inScope(ctx context.Context, organization uuid.UUID, kind string, engine fleet.Engine, scope fleet.Scope) (subjects, error) {
	return statement.All[subject](ctx, s.db, fmt.Sprintf("find the series of %s", engine), instancesInScope,
		organization, kind, string(engine), !scope.Filtered, asTexts(scope.Instances))
}

// hostsIn finds the series of hosts.
func (s *Store) hostsIn(ctx context.Context, organization uuid.UUID, scope measurements.HostScope) (subjects, error) {
	return statement.All[subject](ctx, s.db, "find the hosts in scope", hostsInScope,
		organization, !scope.Filtered, statement.IDs(scope.Instances), scope.Names)
}
