package pgstore

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/measurements/waitclass"
)

// TestSlotsOfARowInAWindow: every slot in the window is in its bucket, and no other one, for rows and windows
// of each size that meet, touch or miss.
func TestSlotsOfARowInAWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		size := rapid.SampledFrom(timegrid.Sizes()).Draw(r, "size")
		level := levelOf(size)
		start := monday
		if level.row != timegrid.Week {
			start = start.Add(time.Duration(rapid.IntRange(0, 30).Draw(r, "row")) * level.row.Width())
		}
		var slots [][]byte // each has its number
		for i := range rapid.IntRange(0, codec.MinutesOfHour).Draw(r, "slots") {
			var slot []byte
			if rapid.Bool().Draw(r, "there") {
				slot = binary.AppendUvarint(nil, uint64(i))
			}
			slots = append(slots, slot)
		}
		from := start.Add(time.Duration(rapid.Int64Range(-3*int64(level.row.Width()), 3*int64(level.row.Width())).Draw(r, "from")))
		w := windowOf(timegrid.Window{From: from, To: from.Add(time.Duration(rapid.Int64Range(1, 200*int64(size.Width())).Draw(r, "long"))), Size: size})

		got := make(map[int]int) // slots by bucket
		part, err := w.stretch(start, rowbytes.RowOf(slots))
		if err != nil {
			r.Fatal(err)
		}
		for part.More() {
			slot, bucket, ok := part.Next()
			if !ok {
				r.Fatal(rowbytes.ErrBytes)
			}
			if len(slot) > 0 {
				got[bucket] = int(slot[0])
			}
		}
		want := 0
		for i, slot := range slots {
			begins := start.Add(time.Duration(i-level.first) * size.Width())
			bucket := w.Index(begins)
			if i < level.first || i >= level.end || slot == nil || bucket < 0 || bucket >= w.Len() {
				continue
			}
			want++
			if n, ok := got[bucket]; !ok || n != i {
				r.Fatalf("bucket %d of %+v has slot %d (%t), want %d", bucket, w.Window, n, ok, i)
			}
		}
		if len(got) != want {
			r.Fatalf("%d slots in %+v, want %d", len(got), w.Window, want)
		}
	})
}

// TestTheLongestWindows: 11,000 buckets with a sample in the first, in the last and on
// both sides, of every size. Of weeks that is 211 years.
func TestTheLongestWindows(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const buckets = 11_000
	for _, size := range timegrid.Sizes() {
		organization, instance, database := uuid.New(), uuid.New(), uuid.New()
		start := size.Floor(monday)
		end := start.Add(buckets / 2 * size.Width()).Add(buckets / 2 * size.Width())
		for n, at := range []time.Time{start.Add(-time.Second), start, end.Add(-time.Second), end} {
			b := lookAt(organization, instance, "db", []uuid.UUID{database}, at)
			percent := float64(n)
			b.Hosts[0].CPUPercent = &percent
			b.Sessions[0].Waits["Lock"] = int64(n)
			b.Statements[0].Statements[0].TotalMs = 2 * percent
			write(t, s, b)
		}
		if _, err := s.Roll(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := timegrid.Window{From: start, To: end, Size: size}
		u, err := s.Utilization(t.Context(), organization, measurements.HostScope{}, w)
		if err != nil {
			t.Fatal(err)
		}
		q, err := s.QueryPerformance(t.Context(), organization, fleet.PostgreSQL, fleet.Scope{}, w, end)
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.WaitEvents(t.Context(), organization, fleet.PostgreSQL, fleet.Scope{}, w)
		if err != nil {
			t.Fatal(err)
		}
		if u.HostCount != 1 || !q.Sampled || !e.Sampled {
			t.Errorf("%s: %d hosts, sampled %t and %t", size, u.HostCount, q.Sampled, e.Sampled)
		}
		for name, line := range map[string]measurements.Values{"CPU": u.CPUPercent, "maximum": q.MaxMs, "locks": e.Waiting[waitclass.Locks]} {
			if len(line) != buckets {
				t.Fatalf("%s: %s of %d buckets", size, name, len(line))
			}
			for i, v := range line {
				want := math.NaN()
				switch i {
				case 0:
					want = 1
				case buckets - 1:
					want = 2
				}
				if !cmp.Equal(want, v, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 0)) {
					t.Errorf("%s: %s in bucket %d is %g, want %g", size, name, i, v, want)
				}
			}
		}
	}
}

// TestRowsThatCannotBeRead are an error that names the series, and not the end of the
// connection.
func TestRowsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	organization, instance, database := uuid.New(), uuid.New(), uuid.New()
	write(t, s, lookAt(organization, instance, "db", []uuid.UUID{database}, monday))
	if _, err := s.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := hourOf(monday)
	read := func(ctx context.Context) []error {
		_, hostsErr := s.Utilization(ctx, organization, measurements.HostScope{}, w)
		_, queriesErr := s.QueryPerformance(ctx, organization, fleet.PostgreSQL, fleet.Scope{}, w, monday)
		_, waitsErr := s.WaitEvents(ctx, organization, fleet.PostgreSQL, fleet.Scope{}, w)
		return []error{hostsErr, queriesErr, waitsErr}
	}
	for _, err := range read(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	over, end := context.WithCancel(t.Context())
	end()
	for _, err := range read(over) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
	}
	if _, err := s.db.ExecContext(t.Context(), `UPDATE head_minutes SET body = '\x00047f000000'`); err != nil {
		t.Fatal(err)
	}
	for range 10 { // more often than the pool has connections
		for _, err := range read(t.Context()) {
			if !errors.Is(err, rowbytes.ErrBytes) || !strings.Contains(err.Error(), "series") {
				t.Errorf("bytes that nobody wrote: %v", err)
			}
		}
	}
}

// hourOf is a window of the minutes of an hour.
func hourOf(start time.Time) timegrid.Window {
	return timegrid.Window{From: start, To: start.Add(time.Hour), Size: timegrid.Minute}
}
