package daily

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/internal/report/snapshot"
	projected "muster/projections/fleet"
)

// Ask is the question of a document with its servers and window: in the zone of the schedule, else the organization's.
func (r *Reader) Ask(ctx context.Context, servers *projected.Reader, scope report.Scope, doc *snapshot.Document) (Ask, error) {
	ask := Ask{
		Window: *doc.Window, Organization: doc.Organization.ID,
		Whole: len(scope.InstanceIDs) == 0 && len(scope.Tags) == 0 && scope.TeamID == nil,
	}
	o, ok, err := r.Accounts.Organization(ctx, ask.Organization)
	if err != nil || !ok {
		return ask, errors.Join(err, errors.New("the organization is gone"))
	}
	name := o.TimeZone
	if scope.TimeZone != "" {
		name = scope.TimeZone
	}
	if ask.Zone, err = usecase.Zone(name); err != nil {
		return ask, err
	}
	ids := make([]uuid.UUID, len(doc.Instances))
	for i := range doc.Instances {
		ids[i] = doc.Instances[i].ID
	}
	tags, err := servers.TagsOf(ctx, ask.Organization, ids)
	ask.DueDays, ask.Servers = o.Settings().DueDays, serversOf(doc, tags)
	return ask, err
}

// serversOf are the servers of a document that were there at the end of its window.
func serversOf(doc *snapshot.Document, tags map[uuid.UUID]fleet.Tags) (servers []Server) {
	for _, i := range doc.Instances {
		if !i.Active || !i.CreatedAt.Before(doc.Window.To) {
			continue
		}
		s := Server{
			ID: i.ID, Name: i.Name, Version: i.Version, Host: i.Host, Engine: fleet.Engine(i.Engine), CreatedAt: i.CreatedAt,
			Tags: tags[i.ID], Databases: make(map[uuid.UUID]projected.Database, len(i.Databases)),
		}
		if i.Owner != nil {
			s.Owner = i.Owner.Name
		}
		for _, db := range i.Databases {
			s.Databases[db.ID] = projected.Database{ID: db.ID, Name: db.Name}
		}
		servers = append(servers, s)
	}
	return servers
}
