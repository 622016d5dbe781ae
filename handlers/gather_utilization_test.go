package handlers_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
)

// measured keeps samples and rolls them up.
func (e *estate) measured(hosts ...measurements.HostSample) {
	e.t.Helper()
	store := pgstore.New(e.db, slog.New(slog.DiscardHandler))
	if _, err := store.Write(e.t.Context(), measurements.Batch{Organization: e.organization, Hosts: hosts}); err != nil {
		e.t.Fatal(err)
	}
	for rolled := 1; rolled > 0; {
		var err error
		if rolled, err = store.Roll(e.t.Context()); err != nil {
			e.t.Fatal(err)
		}
	}
}

func hostSample(host string, at time.Time, cpu float64, instances ...uuid.UUID) measurements.HostSample {
	memory, disk := cpu/3, cpu/2
	return measurements.HostSample{
		Host: host, Instances: instances, At: at, CPUPercent: &cpu, MemoryPercent: &memory,
		Volumes: []measurements.Volume{{Mount: "/", UsedPercent: &disk}, {Mount: "/boot", UsedPercent: &memory}},
	}
}

// A scorecard has the hours of the hosts on which its instance runs, by their samples or by
// their name, and no other host's.
func TestGatherTakesInTheUtilizationOfTheWindow(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	mapped, named, bare := e.register("mapped", true), e.register("named", true), e.register("bare", true)
	to := e.clock.Now().UTC().Truncate(time.Minute)
	last := to.Add(-time.Nanosecond).Truncate(time.Hour)
	e.measured(
		hostSample("machine", last, 40, mapped), hostSample("machine", last.Add(-3*time.Hour), 10, mapped),
		hostSample("machine", last.Add(-3*time.Hour).Add(time.Minute), 23.3333, mapped), hostSample("named", last.Add(-time.Hour), 99),
	)
	for name, test := range map[string]struct {
		instance uuid.UUID
		hosts    int
		last     [4]any // CPU of the last four hours
		disk     any    // three hours ago
		minutes  int    // with a sample
	}{
		"by its samples": {mapped, 1, [4]any{16.667, nil, nil, 40.0}, 11.667, 3},
		"by its name":    {named, 1, [4]any{nil, nil, 99.0, nil}, nil, 1},
		"by nobody":      {bare, 0, [4]any{}, nil, 0},
	} {
		doc, err := e.inputs().Gather(t.Context(), e.scorecard(test.instance, nil, 7*day))
		if err != nil {
			t.Fatal(err)
		}
		u := doc.Utilization
		n := len(u.CPUPercent)
		if u.Hosts != test.hosts || !u.Start.Equal(to.Add(-7*day).Truncate(time.Hour)) || !u.Start.Add(time.Duration(n-1)*time.Hour).Equal(last) {
			t.Errorf("%s: %d hosts, %d hours from %s", name, u.Hosts, n, u.Start)
		}
		for _, minutes := range []*int{u.CPUMinutes, u.MemoryMinutes, u.DiskMinutes} {
			if minutes == nil || *minutes != test.minutes {
				t.Errorf("%s: samples in %v minutes, want %d", name, minutes, test.minutes)
			}
		}
		var got [4]any
		for i, v := range u.CPUPercent[n-4:] {
			got[i] = value(v)
		}
		if diff := cmp.Diff(test.last, got); diff != "" || value(u.DiskPercent[n-4]) != test.disk {
			t.Errorf("%s: disk %v, CPU (-want +got):\n%s", name, value(u.DiskPercent[n-4]), diff)
		}
	}
	foreign := e.scorecard(mapped, nil, day)
	foreign.OrganizationID = e.stranger()
	if doc, err := e.inputs().Gather(t.Context(), foreign); err != nil || doc.Utilization.Hosts != 0 {
		t.Errorf("a stranger's scorecard has %+v, %v", doc.Utilization, err)
	}
	if doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{})); err != nil || doc.Utilization != nil {
		t.Errorf("a Security report has %+v, %v", doc.Utilization, err)
	}
}

// A scorecard has the score of the last assessment before its window, and of no other.
func TestGatherTakesInTheScoreAtTheStart(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	scored, never := e.register("scored", true), e.register("never", true)
	now := e.clock.Now().UTC()
	e.scored(scored, now.Add(-9*day), 71)
	e.scored(scored, now.Add(-7*day-time.Minute), 72)
	e.scored(scored, now.Add(-6*day), 73)
	for name, test := range map[string]struct {
		instance uuid.UUID
		ago      time.Duration
		want     int // 0: none
	}{
		"the last before the window":       {scored, 7 * day, 72},
		"assessed within it for the first": {scored, 10 * day, 0},
		"never assessed":                   {never, 7 * day, 0},
	} {
		doc, err := e.inputs().Gather(t.Context(), e.scorecard(test.instance, nil, test.ago))
		if err != nil {
			t.Fatal(err)
		}
		switch before := doc.ScoreAtStart; {
		case test.want == 0 && before != nil, test.want > 0 && (before == nil || before.Score != test.want || before.Grade != "C"):
			t.Errorf("%s: %+v, want %d", name, before, test.want)
		}
	}
	foreign := e.scorecard(scored, nil, 7*day)
	foreign.OrganizationID = e.stranger()
	if doc, err := e.inputs().Gather(t.Context(), foreign); err != nil || doc.ScoreAtStart != nil {
		t.Errorf("a stranger's scorecard has %+v, %v", doc.ScoreAtStart, err)
	}
}

func value(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}
