package handlers

import (
	"context"
	"math"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/report"
	"muster/domain/timegrid"
	"muster/internal/measurements"
	"muster/internal/snapshot"
)

// addUtilization takes in how busy the hosts of a scorecard's instance were, hour by
// hour. What arrived seconds before may not be in it yet.
func (g *Inputs) addUtilization(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if in.Queued.Kind != report.InstanceScorecard || doc.Window == nil || len(doc.Instances) == 0 {
		return nil
	}
	instance := doc.Instances[0]
	hosts := measurements.HostScope{Scope: fleet.Scope{Filtered: true, Instances: []uuid.UUID{instance.ID}}}
	if instance.Host != "" {
		hosts.Names = []string{instance.Host}
	}
	hours := timegrid.Window{From: doc.Window.From, To: doc.Window.To, Size: timegrid.Hour}
	u, err := g.Measurements.Utilization(ctx, in.OrganizationID, hosts, hours)
	if err != nil {
		return err
	}
	doc.Utilization = &snapshot.Utilization{
		Start: hours.Start(), Hosts: u.HostCount,
		CPUPercent: figures(u.CPUPercent), MemoryPercent: figures(u.MemoryPercent), DiskPercent: figures(u.DiskPercent),
	}
	return nil
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
