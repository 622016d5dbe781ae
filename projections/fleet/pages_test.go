package fleet_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/projections"
	"muster/projections/fleet"
	"muster/projections/projectionstest"
)

// TestPagesMayBeCutAnywhere: instances and databases that come, change and go are
// the same, whichever of their events share a page.
func TestPagesMayBeCutAnywhere(t *testing.T) {
	t.Parallel()
	s, draw, acme := newScene(t), rand.New(rand.NewPCG(18, 54)), uuid.New()
	type server struct{ id, database uuid.UUID }
	servers := make([]server, 12)
	for range 120 {
		i := &servers[draw.IntN(len(servers))]
		switch n := draw.IntN(5); {
		case i.id == uuid.Nil: // an instance that comes again is a new one
			*i = server{uuid.New(), uuid.New()}
			s.happens(acme, i.id, instance("web", domain.PostgreSQL))
			s.happens(acme, i.database, domain.DatabaseRegistered{InstanceID: i.id, ExternalID: "app", Name: "app", CreatedAt: created})
		case n == 0:
			s.happens(acme, i.id, domain.InstanceRemoved{})
			*i = server{}
		case n == 1:
			s.happens(acme, i.database, domain.DatabaseChanged{Name: "renamed", CreatedAt: created})
		case n == 2:
			s.happens(acme, i.id, domain.InstanceDeactivated{})
		case n == 3:
			s.happens(acme, i.id, domain.InstanceActivated{}, domain.InstanceChanged{Name: "db", Engine: domain.Oracle, Version: "19", Host: "h", CreatedAt: created})
		default:
			s.happens(acme, i.database, domain.DatabaseRemoved{InstanceID: i.id})
			i.database = uuid.New()
			s.happens(acme, i.database, domain.DatabaseRegistered{InstanceID: i.id, ExternalID: "more", Name: "more", CreatedAt: created})
		}
	}
	s.stage.Settle()
	projectionstest.PagesMayBeCutAnywhere(t, s.db, fleet.Projection(s.registry.Decode))
	difference, err := s.stage.Rebuild(t.Context(), fleet.Name, projections.RebuildOptions{StopOnDifference: true}, nil)
	if err != nil || !difference.Empty() {
		t.Errorf("rebuild gives %+v, %v", difference, err)
	}
}
