package serverfacts

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
)

// Measurements is how busy the hosts of a server were; *pgstore.Store is one.
type Measurements interface {
	Utilization(ctx context.Context, organization uuid.UUID, hosts measurements.HostScope, w timegrid.Window) (measurements.Utilization, error)
}

// HostsOf are those that an instance runs on.
func HostsOf(instance snapshot.Instance) measurements.HostScope {
	hosts := measurements.HostScope{Scope: fleet.Scope{Filtered: true, Instances: []uuid.UUID{instance.ID}}}
	if instance.Host != "" {
		hosts.Names = []string{instance.Host}
	}
	return hosts
}

// Utilization is how busy the hosts of an instance were in a window, hour by hour.
func Utilization(ctx context.Context, from Measurements, organization uuid.UUID, instance snapshot.Instance, w snapshot.Window) (*snapshot.Utilization, error) {
	hosts, hours := HostsOf(instance), timegrid.Window{From: w.From, To: w.To, Size: timegrid.Hour}
	u, err := from.Utilization(ctx, organization, hosts, hours)
	if err != nil {
		return nil, err
	}
	minutes := timegrid.Window{From: hours.Start(), To: hours.Start().Add(time.Duration(len(u.CPUPercent)) * time.Hour), Size: timegrid.Minute}
	by, err := from.Utilization(ctx, organization, hosts, minutes)
	if err != nil {
		return nil, err
	}
	return &snapshot.Utilization{
		Start: hours.Start(), Hosts: u.HostCount,
		CPUPercent: figures(u.CPUPercent), MemoryPercent: figures(u.MemoryPercent), DiskPercent: figures(u.DiskPercent),
		CPUMinutes: sampled(u.CPUPercent, by.CPUPercent), MemoryMinutes: sampled(u.MemoryPercent, by.MemoryPercent),
		DiskMinutes: sampled(u.DiskPercent, by.DiskPercent),
	}, nil
}

// sampled counts the minutes that have a sample; nil where an hour has a value and
// none of its minutes has one: they are kept for a shorter time than the hours.
func sampled(hours, minutes measurements.Values) *int {
	total := 0
	for h, v := range hours {
		n := 0
		for _, m := range minutes[min(60*h, len(minutes)):min(60*(h+1), len(minutes))] {
			if !math.IsNaN(m) {
				n++
			}
		}
		if n == 0 && !math.IsNaN(v) {
			return nil
		}
		total += n
	}
	return &total
}

// figures are a line as a document carries it, in thousandths as the tile does.
func figures(values measurements.Values) []*float64 {
	out := make([]*float64, len(values))
	for i, v := range values {
		if !math.IsNaN(v) {
			v = math.Round(1000*v) / 1000
			out[i] = &v
		}
	}
	return out
}
