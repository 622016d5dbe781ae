package pgstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// The size of a host comes from the newest of its samples that has it, and from no other
// host's.
func TestMachines(t *testing.T) {
	t.Parallel()
	s, organization := newStore(t), uuid.New()
	ours, theirs := uuid.New(), uuid.New()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	host := func(name string, ago time.Duration, memory float64, cpus int32, instances ...uuid.UUID) {
		sample := measurements.HostSample{Host: name, Instances: instances, At: now.Add(-ago)}
		if memory != 0 {
			sample.Memory = &measurements.MemoryBytes{Total: memory, Available: memory / 2, Used: -1}
		} else {
			sample.MemoryPercent = new(float64)
		}
		for cpu := range cpus {
			for mode := range int32(3) {
				sample.CPU = append(sample.CPU, measurements.CPUCounter{Code: 16*cpu + mode, Seconds: 1})
			}
		}
		write(t, s, measurements.Batch{Organization: organization, Hosts: []measurements.HostSample{sample}})
	}
	host("counted", 3*time.Minute, 32<<30, 0, ours)
	host("counted", 2*time.Minute, 64<<30, 16, ours)
	host("counted", time.Minute, 0, 0, ours, theirs)
	host("counted", 0, -1, 0)
	host("added up", 0, 8<<30, 1, ours)
	host("old", 73*time.Hour, 16<<30, 4, ours)
	host("percentages", 0, 0, 0, ours)
	host("theirs", 0, 16<<30, 4, theirs)
	scope := measurements.HostScope{Scope: fleet.Scope{Filtered: true, Instances: []uuid.UUID{ours}}}
	got, err := s.Machines(t.Context(), organization, scope, now.Add(-72*time.Hour), 10)
	if err != nil {
		t.Fatal(err)
	}
	want := []measurements.Machine{
		{Host: "added up", At: now, Instances: 1, MemoryBytes: 8 << 30}, // one CPU or the sum of all
		{Host: "counted", At: now, Instances: 2, MemoryBytes: 64 << 30, CPUs: 16},
		{Host: "percentages", At: now, Instances: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if foreign, err := s.Machines(t.Context(), uuid.New(), scope, now.Add(-72*time.Hour), 10); err != nil || len(foreign) > 0 {
		t.Errorf("a stranger sees %v, %v", foreign, err)
	}
}

// TestMachinesOfALargeFleet are read until there are more than the caller wants: of 1,000 hosts, a
// hundred would be looked up in vain.
func TestMachinesOfALargeFleet(t *testing.T) {
	t.Parallel()
	s, organization, now := newStore(t), uuid.New(), time.Now().UTC().Truncate(time.Minute)
	b := measurements.Batch{Organization: organization}
	for i := range 9 {
		for minute := range 1 + i%2 {
			b.Hosts = append(b.Hosts, measurements.HostSample{Host: string(rune('a' + i)), At: now.Add(-time.Duration(minute) * time.Minute), MemoryPercent: new(float64)})
		}
	}
	write(t, s, b)
	for most, want := range map[int]int{2: 3, 8: 9, 9: 9, 20: 9} {
		got, err := s.Machines(t.Context(), organization, measurements.HostScope{}, now.Add(-time.Hour), most)
		if err != nil || len(got) != want {
			t.Errorf("of at most %d there are %d, want %d; %v", most, len(got), want, err)
		}
	}
}
