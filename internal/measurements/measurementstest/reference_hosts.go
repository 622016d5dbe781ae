package measurementstest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// joinHosts joins two samples of a host and time, part by part; what is known stays.
func joinHosts(first, again measurements.HostSample) measurements.HostSample {
	joined := first
	joined.CPUPercent = cmp.Or(first.CPUPercent, again.CPUPercent)
	joined.MemoryPercent = cmp.Or(first.MemoryPercent, again.MemoryPercent)
	joined.Stale = first.Stale || again.Stale
	if first.Instances == nil {
		joined.Instances = again.Instances
	}
	joined.Volumes = slices.Clone(first.Volumes)
	for _, v := range again.Volumes {
		joined.Volumes = joinVolume(joined.Volumes, v)
	}
	joined.CPU = measurements.SortCPU(slices.Concat(first.CPU, again.CPU))
	switch {
	case first.Memory == nil:
		joined.Memory = again.Memory
	case again.Memory != nil:
		joined.Memory = &measurements.MemoryBytes{
			Total:     known(first.Memory.Total, again.Memory.Total),
			Available: known(first.Memory.Available, again.Memory.Available),
			Used:      known(first.Memory.Used, again.Memory.Used),
		}
	}
	return joined
}

// known is the first of two numbers of bytes that is one.
func known(first, again float64) float64 {
	if first >= 0 {
		return first
	}
	return again
}

func joinVolume(volumes []measurements.Volume, again measurements.Volume) []measurements.Volume {
	for i, first := range volumes {
		if first.Mount == again.Mount {
			if first.Size >= 0 || first.Free >= 0 || first.Available >= 0 {
				again.UsedPercent = nil // it is told in bytes
			}
			volumes[i] = measurements.Volume{
				Mount: first.Mount, UsedPercent: cmp.Or(first.UsedPercent, again.UsedPercent),
				Size: known(first.Size, again.Size), Free: known(first.Free, again.Free), Available: known(first.Available, again.Available),
				ReadOnly: first.ReadOnly || again.ReadOnly,
			}
			return volumes
		}
	}
	return append(volumes, again)
}

// Utilization is documented at measurements.Store.
func (r *Reference) Utilization(_ context.Context, organization uuid.UUID, scope measurements.HostScope, w timegrid.Window) (measurements.Utilization, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := w.Len()
	u := measurements.Utilization{CPUPercent: measurements.Gaps(n), MemoryPercent: measurements.Gaps(n), DiskPercent: measurements.Gaps(n)}
	cpu, memory := make([]mean, n), make([]mean, n) // over hosts, of equal weight
	for _, host := range r.of(organization).byHost() {
		if !inScope(host, scope) {
			continue
		}
		if slices.ContainsFunc(host, func(h measurements.HostSample) bool { return 0 <= w.Index(h.At) && w.Index(h.At) < n && !onlyStale(h) }) {
			u.HostCount++
		}
		for i := range n {
			in := func(at time.Time) bool { return w.Index(at) == i }
			cpu[i].weigh(cpuOf(host, in), 1)
			memory[i].weigh(memoryOf(host, in), 1)
			u.DiskPercent[i] = greater(u.DiskPercent[i], diskOf(host, in))
		}
	}
	for i := range n {
		u.CPUPercent[i], u.MemoryPercent[i] = cpu[i].value(), memory[i].value()
	}
	return u, nil
}

// byHost returns the samples of each host in the order of time.
func (s *samples) byHost() map[string][]measurements.HostSample {
	hosts := make(map[string][]measurements.HostSample)
	for _, h := range inOrder(s.hosts, func(h measurements.HostSample) time.Time { return h.At }) {
		hosts[h.Host] = append(hosts[h.Host], h)
	}
	return hosts
}

// inScope: a host's instances are those of its newest sample that says any; where there
// are none, it belongs to those whose host names it.
func inScope(host []measurements.HostSample, scope measurements.HostScope) bool {
	if !scope.Filtered {
		return true
	}
	var runs []uuid.UUID
	for _, h := range host {
		if h.Instances != nil {
			runs = h.Instances
		}
	}
	if len(runs) == 0 {
		return slices.Contains(scope.Names, host[0].Host)
	}
	return slices.ContainsFunc(runs, func(id uuid.UUID) bool { return slices.Contains(scope.Instances, id) })
}

// onlyStale: a marker alone says that the host was not seen.
func onlyStale(h measurements.HostSample) bool {
	return h.Stale && h.CPUPercent == nil && h.MemoryPercent == nil && len(h.CPU) == 0 && h.Memory == nil && len(h.Volumes) == 0
}

// cpuOf is the mean of a host's samples in a bucket, weighed by the time that each is
// about: a percentage stands for a minute, an interval of counters for itself. It lies
// in the bucket in which it ends. A marker of staleness stands before the scrape of its
// time: agents send it with the first scrape that lacks what went stale.
func cpuOf(host []measurements.HostSample, in func(time.Time) bool) float64 {
	var m mean
	var before *measurements.HostSample // the scrape that an interval may begin with
	for i, h := range host {
		if h.Stale {
			before = nil
		}
		switch {
		case !in(h.At):
		case h.CPUPercent != nil: // as with memory, what the sender has worked out
			m.weigh(*h.CPUPercent, 60)
		case len(h.CPU) > 0 && before != nil:
			m.weigh(busy(*before, h), h.At.Sub(before.At).Seconds())
		}
		if len(h.CPU) > 0 {
			before = &host[i]
		}
	}
	return m.value()
}

// busy is how much of the time between two scrapes the CPUs were not idle, in percent;
// NaN where the two cannot be compared.
func busy(a, b measurements.HostSample) float64 {
	if b.At.Sub(a.At) > 10*time.Minute || len(a.CPU) != len(b.CPU) {
		return math.NaN()
	}
	var working, all float64
	for i, before := range a.CPU {
		spent := b.CPU[i].Seconds - before.Seconds
		if spent <= -1 || b.CPU[i].Code != before.Code { // it was reset, or is another one
			return math.NaN()
		}
		spent = max(spent, 0)
		all += spent
		if mode := before.Code % 16; mode != measurements.ModeIdle && mode != measurements.ModeIOWait {
			working += spent
		}
	}
	return percent(working, all)
}

// memoryOf is the mean of a host's samples in a bucket.
func memoryOf(host []measurements.HostSample, in func(time.Time) bool) float64 {
	var m mean
	for _, h := range host {
		switch {
		case !in(h.At):
		case h.MemoryPercent != nil:
			m.weigh(*h.MemoryPercent, 1)
		case h.Memory != nil && h.Memory.Total >= 0 && h.Memory.Available >= 0:
			m.weigh(percent(h.Memory.Total-h.Memory.Available, h.Memory.Total), 1)
		case h.Memory != nil && h.Memory.Total >= 0 && h.Memory.Used >= 0:
			m.weigh(percent(h.Memory.Used, h.Memory.Total), 1)
		}
	}
	return m.value()
}

// diskOf is the fullest volume at its peak.
func diskOf(host []measurements.HostSample, in func(time.Time) bool) float64 {
	fullest := math.NaN()
	for _, h := range host {
		for _, v := range h.Volumes {
			ignored := v.Mount == "/boot" || v.Mount == "/boot/efi" || strings.HasPrefix(v.Mount, "/snap/")
			switch {
			case !in(h.At) || ignored || v.ReadOnly:
			case v.UsedPercent != nil:
				fullest = greater(fullest, *v.UsedPercent)
			case v.Size >= 0 && v.Free >= 0 && v.Available >= 0:
				used := v.Size - v.Free
				fullest = greater(fullest, percent(used, used+v.Available))
			}
		}
	}
	return fullest
}

// percent is a part of a whole, from 0 to 100; NaN if the whole is 0.
func percent(part, whole float64) float64 {
	if whole <= 0 {
		return math.NaN()
	}
	return min(max(100*part/whole, 0), 100)
}

// greater is the greater of two numbers; NaN counts as missing.
func greater(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// mean is a weighed one. NaN is no number to add; without any, it is the value.
type mean struct{ sum, weight float64 }

func (m *mean) weigh(x, weight float64) {
	if !math.IsNaN(x) {
		m.sum += x * weight
		m.weight += weight
	}
}

func (m *mean) value() float64 {
	if m.weight == 0 {
		return math.NaN()
	}
	return m.sum / m.weight
}

// Machines is documented at measurements.Store.
func (r *Reference) Machines(_ context.Context, organization uuid.UUID, scope measurements.HostScope, since time.Time, _ int) ([]measurements.Machine, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []measurements.Machine
	for name, host := range r.of(organization).byHost() {
		m := measurements.Machine{Host: name}
		for _, h := range host { // the newest that says so counts
			if h.At.Before(since) || !inScope(host, scope) {
				continue
			}
			m.At = h.At
			cpus := make(map[int32]bool)
			for _, counter := range h.CPU {
				cpus[counter.Code/16] = true
			}
			if len(cpus) > 0 {
				m.CPUs = len(cpus)
			}
			if h.Memory != nil && h.Memory.Total >= 0 {
				m.MemoryBytes = int64(h.Memory.Total)
			}
			if h.Instances != nil {
				m.Instances = len(h.Instances)
			}
		}
		if !m.At.IsZero() {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b measurements.Machine) int { return cmp.Compare(a.Host, b.Host) })
	return all, nil
}
