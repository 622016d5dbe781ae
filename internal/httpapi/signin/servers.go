package signin

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/watch/status"
	"muster/projections/fleet"
)

// mostNotUp is how many servers that are not up a session names. A page shows four of them.
const mostNotUp = 200

// servers is how the organization's servers are, for those who may list them, else nil. The
// dashboard draws them with its first frame: a card that comes later pushes the rest down.
func (s *MemberRoutes) servers(ctx context.Context, p accounts.Principal) (*api.SessionServers, error) {
	may := []organization.Scope{organization.ScopeMetricsRead, organization.ScopeAlertsRead, organization.ScopeReportsRead, organization.ScopeReportsCreate}
	if !slices.ContainsFunc(may, p.Can) { // as to list them
		return nil, nil
	}
	id := p.Organization.ID
	active, err := s.Fleet.Activity(ctx, id, p.Scope(), nil)
	if err != nil {
		return nil, err
	}
	statuses, err := status.Of(ctx, s.DB, id, slices.Collect(maps.Keys(active)), s.Now())
	if err != nil {
		return nil, err
	}
	states, counts := wire.StatesOf(active, statuses)
	shown := &api.SessionServers{States: counts, NotUp: []api.ServerNotUp{}}
	var notUp []uuid.UUID
	for server, state := range states {
		if state != status.Up && state != status.Inactive {
			notUp = append(notUp, server)
		}
	}
	if len(notUp) == 0 {
		return shown, nil
	}
	rows, _, err := s.Fleet.Instances(ctx, fleet.Query{Organization: id, IDs: notUp, Page: 1, Size: len(notUp)})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		is := statuses[row.ID]
		shown.NotUp = append(shown.NotUp, api.ServerNotUp{
			Id: row.ID, Name: row.Name, CreatedAt: row.CreatedAt.UTC(), Status: api.InstanceStatus(is.State),
			StatusSince: wire.UTC(is.Since), StatusReason: wire.StatusReason(is.Reason), TriedAt: wire.UTC(is.TriedAt),
		})
	}
	worst := status.States()
	slices.SortStableFunc(shown.NotUp, func(a, b api.ServerNotUp) int {
		return cmp.Or(
			cmp.Compare(slices.Index(worst, status.State(a.Status)), slices.Index(worst, status.State(b.Status))),
			since(b).Compare(since(a)),
		)
	})
	shown.NotUp = shown.NotUp[:min(len(shown.NotUp), mostNotUp)]
	return shown, nil
}

func since(i api.ServerNotUp) time.Time {
	if i.StatusSince == nil {
		return time.Time{}
	}
	return *i.StatusSince
}
