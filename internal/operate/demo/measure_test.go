package demo_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/timegrid"
	"muster/internal/accounts"
	"muster/internal/intake/push"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/operate/demo"
)

// measuring is a demo with a short past, of which little is recent.
func measuring(t *testing.T) (*scene, accounts.Organization) {
	t.Helper()
	s := newScene(t, nil)
	s.measures(s.Demo)
	o, err := s.Organization(t.Context(), nil)
	must(t, err)
	return s, o
}

const (
	past   = 9 * time.Hour
	recent = 20 * time.Minute
)

func (s *scene) measures(d *demo.Demo) {
	store := pgstore.New(d.DB, d.Log)
	d.Intake, d.Series = &push.Intake{DB: d.DB, Store: store, Now: s.clock.Now}, store
	d.Past, d.Recent = past, recent
}

// written is what there is of measurements.
type written struct {
	Raw   int
	Fine  int // samples of the recent past
	Bytes string
}

func (s *scene) written() (w written) {
	s.Helper()
	edge := s.clock.Now().UTC().Truncate(time.Minute).Add(time.Minute - recent)
	must(s.T, s.db.Get(&w.Raw, `SELECT count(*) FROM raw_samples`))
	must(s.T, s.db.Get(&w.Fine, `SELECT count(*) FROM raw_samples WHERE at >= $1`, edge))
	must(s.T, s.db.Get(&w.Bytes, `SELECT md5(coalesce(string_agg(series_id || at::text || md5(body), ',' ORDER BY series_id, at), '')) FROM raw_samples`))
	return w
}

// TestTheLatestMinutesAreMeasuredFirst: before a demo is called ready, each of its last minutes is measured and
// in the series, and nothing else has been waited for.
func TestTheLatestMinutesAreMeasuredFirst(t *testing.T) {
	t.Parallel()
	s, o := measuring(t)
	must(t, s.Begin(t.Context(), o))
	begun := s.written()
	if minutes := s.count(`(SELECT DISTINCT at FROM raw_samples WHERE extract(second FROM at) = 0) m`); minutes != int(recent/time.Minute) || begun.Raw != begun.Fine {
		t.Errorf("%d minutes are measured, %+v", minutes, begun)
	}
	now := s.clock.Now()
	u, err := pgstore.New(s.db, s.Log).Utilization(t.Context(), o.ID, measurements.HostScope{}, timegrid.Window{From: now.Add(-recent), To: now, Size: timegrid.Minute})
	must(t, err)
	for i, cpu := range u.CPUPercent[1:] { // the first has passed
		if math.IsNaN(cpu+u.MemoryPercent[i+1]+u.DiskPercent[i+1]) || u.HostCount != 12 {
			t.Errorf("minute %d of %d hosts: %v, %v, %v", i, u.HostCount, cpu, u.MemoryPercent[i+1], u.DiskPercent[i+1])
		}
	}
	must(t, s.Begin(t.Context(), o))
	if diff := cmp.Diff(begun, s.written()); diff != "" {
		t.Errorf("begun again:\n%s", diff)
	}
	must(t, s.CatchUp(t.Context(), o))
	whole := s.written()
	if whole.Fine != begun.Fine || whole.Raw < 2*begun.Raw {
		t.Errorf("the rest is there: %+v; begun with %+v", whole, begun)
	}
}

// TestMeasuredTwiceIsMeasuredOnce: even where nobody knows that it is.
func TestMeasuredTwiceIsMeasuredOnce(t *testing.T) {
	t.Parallel()
	s, o := measuring(t)
	must(t, s.CatchUp(t.Context(), o))
	once := s.written()
	must(t, s.CatchUp(t.Context(), o))
	s.db.MustExec(`DELETE FROM demo_measured`)
	must(t, s.CatchUp(t.Context(), o))
	if diff := cmp.Diff(once, s.written()); diff != "" {
		t.Errorf("twice:\n%s", diff)
	}
}

// TestMeasuringGoesOn where a process died that was at it, and after a time without
// any; what two processes do at once is done once.
func TestMeasuringGoesOn(t *testing.T) {
	t.Parallel()
	s, o := measuring(t)
	dying := s.process(s.db, nil)
	s.measures(dying)
	left := 1
	dying.Intake.Store = deadStore{pgstore.New(s.db, s.Log), &left}
	if err := dying.CatchUp(t.Context(), o); !errors.Is(err, errDied) {
		t.Fatalf("it ended with %v", err)
	}
	if n := s.count(`raw_samples`); n == 0 {
		t.Error("nothing was written before it died")
	}
	beside := s.process(s.db, nil)
	s.measures(beside)
	both := make(chan error, 2)
	for _, d := range []*demo.Demo{s.Demo, beside} {
		go func() { both <- d.CatchUp(t.Context(), o) }()
	}
	must(t, errors.Join(<-both, <-both))
	interrupted := s.written()
	s.db.MustExec(`TRUNCATE demo_measured, raw_samples, measured_hours`)
	must(t, s.CatchUp(t.Context(), o))
	if diff := cmp.Diff(interrupted, s.written()); diff != "" {
		t.Errorf("interrupted (-) and not (+):\n%s", diff)
	}
	s.clock.Advance(3*recent + time.Minute)
	must(t, s.CatchUp(t.Context(), o))
	if gaps := s.count(`(SELECT unnest(minutes) FROM demo_measured) m`); gaps != 1 {
		t.Errorf("after a pause the measurements are in %d pieces", gaps)
	}
	if fine := s.written().Fine; fine < interrupted.Fine-2 || fine > interrupted.Fine+2 {
		t.Errorf("%d samples of the recent past, %d before the pause", fine, interrupted.Fine)
	}
}

// TestAnotherProcessStartsDuringTheMeasurements: while one process waits until they are in the series, however
// long that takes.
func TestAnotherProcessStartsDuringTheMeasurements(t *testing.T) {
	t.Parallel()
	s, o := measuring(t)
	must(t, s.CatchUp(t.Context(), o))
	asked, filled := make(chan struct{}), make(chan error, 1)
	s.Series = stuckSeries{s.Series, asked}
	go func() { filled <- s.Fill(t.Context(), o) }()
	select {
	case <-asked:
	case err := <-filled:
		t.Fatalf("it did not wait: %v", err)
	}
	var free bool
	must(t, s.db.Get(&free, `SELECT pg_try_advisory_xact_lock($1)`, int64(fillLock)))
	if !free {
		t.Error("whoever starts now has to wait, too")
	}
	if n := s.count(`events WHERE type = 'report.queued'`); n != 3 {
		t.Errorf("%d reports are requested that need no measurements", n)
	}
}

// TestSeriesShowTheDemo: what was measured comes back as tiles, with the gap of a
// host whose agent was off, and gives the watch nothing to tell of.
func TestSeriesShowTheDemo(t *testing.T) {
	t.Parallel()
	s, o := measuring(t)
	must(t, s.CatchUp(t.Context(), o))
	store := pgstore.New(s.db, s.Log)
	for {
		hours, err := store.Roll(t.Context())
		must(t, err)
		if hours == 0 {
			break
		}
	}
	off := timegrid.Window{From: o.CreatedAt.Add(-7 * time.Hour), To: o.CreatedAt.Add(-6*time.Hour - 10*time.Minute), Size: timegrid.Minute}
	for name, want := range map[string]bool{"demo-pg-identity-01": false, "demo-pg-billing-01": true} {
		u, err := store.Utilization(t.Context(), o.ID, s.hostOf(name), off)
		must(t, err)
		if got := u.HostCount == 1; got != want {
			t.Errorf("%s has samples: %v", name, got)
		}
	}
	if n := s.count(`observations WHERE source = 'feed' AND part = 'sessions' AND ok`); n != 12 { // of one server only the host is measured
		t.Errorf("%d servers were heard of", n)
	}
	if n := s.count(`signs WHERE value > 95 AND rule = 'host_volume'`); n != 0 {
		t.Errorf("%d volumes are full", n)
	}
}

// hostOf is the filter by an instance.
func (s *scene) hostOf(name string) (scope measurements.HostScope) {
	s.Helper()
	must(s.T, s.db.Select(&scope.Instances, `SELECT id FROM fleet_v3.instances WHERE name = $1`, name))
	scope.Filtered = true
	return scope
}

// stuckSeries never say how far they are, and that they were asked.
type stuckSeries struct {
	demo.Series
	asked chan<- struct{}
}

func (s stuckSeries) Behind(ctx context.Context) (time.Duration, error) {
	close(s.asked)
	<-ctx.Done()
	return 0, ctx.Err()
}

// deadStore dies at the batch after the first ones: of the recent there is one at
// least, and of the rest.
type deadStore struct {
	*pgstore.Store
	left *int
}

func (d deadStore) Write(ctx context.Context, b measurements.Batch) (measurements.Receipt, error) {
	if *d.left--; *d.left < 0 {
		return measurements.Receipt{}, errDied
	}
	return d.Store.Write(ctx, b)
}
