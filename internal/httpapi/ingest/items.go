package ingest

import (
	"muster/commands"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/intake/feed"
)

// The native feed's bodies as the doors take them; here is only the spelling.

func fleetItems(body *api.FleetBatch) []commands.FleetItem {
	items := make([]commands.FleetItem, 0, len(body.Instances))
	for _, i := range body.Instances {
		item := commands.FleetItem{
			ExternalID: i.ExternalId, Name: i.Name, Engine: fleet.Engine(i.Engine), Version: i.Version, Host: i.Host,
			Active: i.Active, CreatedAt: i.CreatedAt, Removed: wire.Value(i.Removed),
		}
		for _, d := range wire.Value(i.Databases) {
			item.Databases = append(item.Databases, commands.FleetDatabase{
				ExternalID: d.ExternalId, Name: d.Name, CreatedAt: d.CreatedAt, Removed: wire.Value(d.Removed),
			})
		}
		items = append(items, item)
	}
	return items
}

func alertItems(body *api.AlertBatch) []commands.AlertItem {
	return wire.List(body.Alerts, func(a api.AlertItem) commands.AlertItem {
		return commands.AlertItem{
			ExternalID: a.ExternalId, Title: a.Title, Severity: alert.Severity(a.Severity), State: alert.State(a.State), Muted: a.IsMuted,
			CreatedAt: a.CreatedAt, FirstTriggeredAt: a.FirstTriggeredAt, LastTriggeredAt: a.LastTriggeredAt, ResolvedAt: a.ResolvedAt,
			Instance: a.Instance, Database: a.Database,
		}
	})
}

// SampleItems are the samples of a body as their door takes them.
func SampleItems(body *api.SampleBatch) (items feed.Items) {
	for _, h := range wire.Value(body.Hosts) {
		host := feed.HostItem{Host: h.Host, Instances: h.Instances, At: h.At, CPUPercent: h.CpuPercent, MemoryPercent: h.MemoryPercent}
		if h.Volumes != nil {
			host.Volumes = make([]feed.VolumeItem, 0, len(*h.Volumes))
		}
		for _, v := range wire.Value(h.Volumes) {
			host.Volumes = append(host.Volumes, feed.VolumeItem(v))
		}
		items.Hosts = append(items.Hosts, host)
	}
	for _, s := range wire.Value(body.Sessions) {
		items.Sessions = append(items.Sessions, feed.SessionItem(s))
	}
	for _, s := range wire.Value(body.Statements) {
		sample := feed.StatementItem{At: s.At, Instance: s.Instance, Database: s.Database, IntervalSeconds: s.IntervalSeconds}
		sample.Statements = make([]feed.DeltaItem, 0, len(s.Statements))
		for _, d := range s.Statements {
			sample.Statements = append(sample.Statements, feed.DeltaItem(d))
		}
		items.Statements = append(items.Statements, sample)
	}
	return items
}
