package httpapi

import (
	"context"

	"muster/commands"
	"muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// RecordFleet takes in what another tool knows of instances and databases. The
// rules are the use case's; here is only the spelling.
func (s *server) RecordFleet(ctx context.Context, r api.RecordFleetRequestObject) (api.RecordFleetResponseObject, error) {
	items := make([]commands.FleetItem, 0, len(r.Body.Instances))
	for _, i := range r.Body.Instances {
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
	ids, mark, err := s.Commands.RecordFleet(ctx, wire.Actor(ctx), items)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	s.countIngested(items)
	answer := api.RecordFleet200JSONResponse{Instances: make([]api.FleetInstanceId, 0, len(ids))}
	for _, i := range ids {
		shown := api.FleetInstanceId{ExternalId: i.ExternalID, Id: i.ID, Databases: []api.FleetDatabaseId{}}
		for _, d := range i.Databases {
			shown.Databases = append(shown.Databases, api.FleetDatabaseId{ExternalId: d.ExternalID, Id: d.ID})
		}
		answer.Instances = append(answer.Instances, shown)
	}
	return answer, nil
}

func (s *server) countIngested(items []commands.FleetItem) {
	databases := 0
	for _, i := range items {
		databases += len(i.Databases)
	}
	s.Metrics.Ingested.WithLabelValues("instance").Add(float64(len(items)))
	s.Metrics.Ingested.WithLabelValues("database").Add(float64(databases))
}
