package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/internal/measurements"
)

// cpus are the counters of two CPUs, each busy, idle and waiting for disks for so long.
func cpus(times ...[3]float64) (all []measurements.CPUCounter) {
	for n, c := range times {
		for i, mode := range []int32{measurements.ModeUser, measurements.ModeIdle, measurements.ModeIOWait} {
			all = append(all, measurements.CPUCounter{Code: 16*int32(n) + mode, Seconds: c[i]})
		}
	}
	return measurements.SortCPU(all)
}

// TestTheLoadOfAHostIsMeasuredSinceTheLastReading: of all its CPUs together, waiting for disks being idle.
// Where a counter fell or a CPU came it was started anew, and is unknown.
func TestTheLoadOfAHostIsMeasuredSinceTheLastReading(t *testing.T) {
	t.Parallel()
	first := cpus([3]float64{100, 1000, 10}, [3]float64{200, 900, 0})
	for name, c := range map[string]struct {
		last, now []measurements.CPUCounter
		want      string
	}{
		"a quarter": {first, cpus([3]float64{105, 1005, 10}, [3]float64{200, 905, 5}), "25"},
		"all":       {first, cpus([3]float64{110, 1000, 10}, [3]float64{210, 900, 0}), "100"},
		"none":      {first, cpus([3]float64{100, 1010, 10}, [3]float64{200, 900, 10}), "0"},
		"at first":  {nil, first, ""},
		"at once":   {first, first, ""},
		"restarted": {first, cpus([3]float64{1, 1, 1}, [3]float64{1, 1, 1}), ""},
		"a CPU more": {
			first, cpus([3]float64{105, 1005, 10}, [3]float64{205, 905, 0}, [3]float64{1, 1, 1}), "",
		},
		"a CPU less": {first, cpus([3]float64{105, 1005, 10}), "50"},
	} {
		item := hostSample("db01", nil, noon, c.last, measurements.HostSample{CPU: c.now})
		got := ""
		if item.CpuPercent != nil {
			got = item.CpuPercent.String()
		}
		if got != c.want {
			t.Errorf("%s: %s %%, want %s", name, got, c.want)
		}
	}
}

// TestTheFormatOfASentHost: in percent, as df has it, and a value that could not be read is missing.
func TestTheFormatOfASentHost(t *testing.T) {
	t.Parallel()
	full := hostSample("db01", []string{"db"}, noon, nil, measurements.HostSample{
		Memory:  &measurements.MemoryBytes{Total: 200, Available: 50},
		Volumes: []measurements.Volume{{Mount: "/data", Size: 100, Free: 25, Available: 20}, {Mount: "/gone"}},
	})
	text, err := marshal(full)
	must(t, err)
	want := `{"host": "db01", "instances": ["db"], "at": "2026-11-20T12:00:00Z", "memoryPercent": 75, "volumes": [{"mount": "/data", "usedPercent": 78.94736842105263}]}`
	if diff := cmp.Diff(asAny(t, want), asAny(t, string(text))); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if none := hostSample("db01", nil, noon, nil, measurements.HostSample{}); none.CpuPercent != nil || none.MemoryPercent != nil || none.Volumes != nil {
		t.Errorf("sent %+v", none)
	}
}
