package pgstore

import (
	"bytes"
	"context"
	_ "embed" // the statements
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/whole_state.sql
	wholeState string
	//go:embed sql/whole_read.sql
	readWhole string
	//go:embed sql/whole_hosts.sql
	wholeHosts string
)

// readEngine passes the data of an engine's instances in scope within the window to take, and
// says whether some of it is partial: from the rows of the whole if there is no filter and
// these have all of it, otherwise from those of the series.
func (s *Store) readEngine(ctx context.Context, organization uuid.UUID, kind string, engine fleet.Engine, scope fleet.Scope, w window, take func(rowbytes.Stretch) error) (partial bool, err error) {
	if !scope.Filtered {
		of := whole{organization, kind, engine}
		state, err := s.stateOf(ctx, of, w)
		if err != nil {
			return false, err
		}
		if state.Made {
			return state.Partial, s.readWhole(ctx, of, w, take)
		}
	}
	return s.readInstances(ctx, organization, kind, engine, scope, w, take)
}

// stateOfWhole is how much a whole's rows have of a window.
type stateOfWhole struct {
	Made    bool // all of it
	Partial bool // and some of that is of a part only
}

func (s *Store) stateOf(ctx context.Context, of whole, w window) (stateOfWhole, error) {
	return statement.One[stateOfWhole](ctx, s.db, "look at "+of.String(), wholeState, of.with(w.Start(), w.End())...)
}

// readWhole hands what the rows of a whole have within the window to take.
func (s *Store) readWhole(ctx context.Context, of whole, w window, take func(rowbytes.Stretch) error) error {
	what := fmt.Sprintf("read the %s of %s", w.Size, of)
	rows, err := statement.All[wholeRow](ctx, s.db, what, readWhole, of.with(string(w.row), w.row.Floor(w.Start()), w.End())...)
	for _, row := range rows {
		part, err := w.stretch(row.Start.UTC(), row.Slots)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if err := take(part); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return err
}

// wholeUtilization is the tile of all hosts; ok is false where their rows do not have all
// of the window.
func (s *Store) wholeUtilization(ctx context.Context, organization uuid.UUID, w window) (tile measurements.Utilization, ok bool, err error) {
	of := whole{organization, codec.Hosts, ""}
	state, err := s.stateOf(ctx, of, w)
	if err != nil || !state.Made {
		return tile, false, err
	}
	u := codec.NewUtilization(w.buckets)
	if err = s.readWhole(ctx, of, w, func(part rowbytes.Stretch) error {
		_, err := u.Take(part)
		return err
	}); err != nil {
		return tile, false, err
	}
	hosts, err := s.countHosts(ctx, organization, w)
	return u.Tile(hosts), true, err
}

// countHosts says how many hosts have a sample in a window. Whole days of it are looked up
// in rows of weeks, whole hours in rows of days and only the minutes at its edges in those
// of hours: six rows for any window within two weeks.
func (s *Store) countHosts(ctx context.Context, organization uuid.UUID, w window) (int, error) {
	parts := hostRows(w.Start(), w.End())
	type placed struct {
		Place int
		Hosts []byte
	}
	rows, err := statement.All[placed](ctx, s.db, "read which hosts have samples", wholeHosts, append([]any{organization}, statement.Columns(keysOf(parts))...)...)
	if err != nil {
		return 0, err
	}
	var all []int64
	for i, row := range rows {
		if i > 0 && parts[row.Place].slots == parts[rows[i-1].Place].slots && bytes.Equal(row.Hosts, rows[i-1].Hosts) {
			continue // weeks of a fleet that stays as it is
		}
		p, err := codec.DecodePresence(row.Hosts)
		if err != nil {
			return 0, fmt.Errorf("read which hosts have samples from %s on: %w", parts[row.Place].Start, err)
		}
		all = union(all, p.In(parts[row.Place].slots))
	}
	return len(all), nil
}

// rowKey is a row of a width.
type rowKey struct {
	Width timegrid.Size
	Start time.Time
}

// partOfRow is a row, and some of its slots.
type partOfRow struct {
	rowKey
	slots uint64
}

func keysOf(parts []partOfRow) []rowKey {
	keys := make([]rowKey, len(parts))
	for i, p := range parts {
		keys[i] = p.rowKey
	}
	return keys
}

// hostRows are the fewest rows that a stretch of time is made of.
func hostRows(from, to time.Time) (parts []partOfRow) {
	for at := from; at.Before(to); {
		size := timegrid.Minute
		for _, larger := range []timegrid.Size{timegrid.Hour, timegrid.Day} {
			if larger.Floor(at).Equal(at) && !at.Add(larger.Width()).After(to) {
				size = larger
			}
		}
		row := levelOf(size).row
		start := row.Floor(at)
		end := start.Add(row.Width())
		if end.After(to) {
			end = size.Floor(to)
		}
		slots := slotsFrom(int(at.Sub(start)/size.Width()), int(end.Sub(start)/size.Width()))
		parts = append(parts, partOfRow{rowKey{row, start}, slots})
		at = end
	}
	return parts
}

// union has what is in either list; both are in order.
func union(a, b []int64) []int64 {
	if len(a) == 0 {
		return b
	}
	all := make([]int64, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			all, a = append(all, a[0]), a[1:]
		case a[0] > b[0]:
			all, b = append(all, b[0]), b[1:]
		default:
			all, a, b = append(all, a[0]), a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}
