package schedules

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"muster/domain/team"
	"muster/internal/httpapi/wire"
	"muster/projections/schedules"
)

// sight tells which schedules somebody with the role team sees: those whose reports would now be
// about nothing but their servers. The others see all of them.
type sight struct {
	*ScheduleRoutes
	organization, member uuid.UUID
	world                team.World
	owners               map[uuid.UUID]team.World
}

func (s *ScheduleRoutes) sight(ctx context.Context) *sight {
	who := wire.Caller(ctx)
	return &sight{s, who.Organization.ID, who.Member.ID, who.World, map[uuid.UUID]team.World{who.Member.ID: who.World}}
}

// sees reports whether the caller sees a schedule. They also see their own one while no server has
// its tags.
func (s *sight) sees(ctx context.Context, row schedules.Schedule) (bool, error) {
	scope := row.Terms.Scope
	if s.world == nil || len(scope.InstanceIDs) > 0 {
		return s.world.Holds(scope.InstanceIDs), nil
	}
	owner, known := s.owners[row.OwnerID]
	if !known {
		var err error
		if owner, err = s.Commands.WorldOf(ctx, s.organization, row.OwnerID); err != nil {
			return false, err
		}
		s.owners[row.OwnerID] = owner
	}
	covers, err := s.Commands.Covers(ctx, s.organization, owner, scope)
	return s.world.Holds(covers) || len(covers) == 0 && row.OwnerID == s.member, err
}

// seen are those of some schedules that the caller sees.
func (s *sight) seen(ctx context.Context, rows []schedules.Schedule) ([]schedules.Schedule, error) {
	var failed error
	rows = slices.DeleteFunc(rows, func(row schedules.Schedule) bool {
		sees, err := s.sees(ctx, row)
		if err != nil {
			failed = err
		}
		return !sees
	})
	return rows, failed
}
