package assessment_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/concurrency/fairslots"
)

// TestOrganizationsTakeTurnsAtLooks: the servers of one organization have been due for longest,
// and it gets no more than half of the slots. Then the one with fewer slots is next, and among
// equals the one whose turn is longer ago.
func TestOrganizationsTakeTurnsAtLooks(t *testing.T) {
	t.Parallel()
	for what, next := range map[string]func(s *assessment.Store, order fairslots.Order) (uuid.UUID, bool, error){
		"assessments": func(s *assessment.Store, order fairslots.Order) (uuid.UUID, bool, error) {
			c, ok, err := s.ClaimDue(t.Context(), time.Minute, order)
			return c.Organization, ok, err
		},
		"light looks": func(s *assessment.Store, order fairslots.Order) (uuid.UUID, bool, error) {
			p, ok, err := s.NextLightLook(t.Context(), []fleet.Engine{fleet.PostgreSQL}, time.Hour, order)
			return p.Organization, ok, err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			store, db := storeOf(t)
			names := map[uuid.UUID]string{}
			organizations := map[string]uuid.UUID{}
			age := 100
			for _, name := range []string{"a", "a", "a", "a", "b", "b", "b", "c"} {
				organization, instance := register(t, store, db)
				if known, ok := organizations[name]; ok {
					organization = known
				}
				organizations[name], names[organization] = organization, name
				due := time.Now().Add(-time.Duration(age) * time.Minute)
				db.MustExec(`UPDATE assessment_targets SET organization_id = $1, next_assessment_at = $3, next_light_look_at = $3,
					last_assessed_at = $3 WHERE instance_id = $2`, organization, instance, due)
				age--
			}
			slots := fairslots.NewSlots(2)
			claim := func() string {
				organization, ok, err := next(store, slots.Order())
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					return ""
				}
				slots.Take(organization)
				return names[organization]
			}
			var got string
			for range 6 {
				got += claim()
			}
			if got != "abcab" {
				t.Errorf("the turns are %q, then none", got)
			}
			slots.Free(organizations["b"])
			slots.Free(organizations["a"])
			slots.Free(organizations["a"])
			if got := claim() + claim() + claim() + claim(); got != "aba" {
				t.Errorf("after two of a and one of b the turns are %q", got)
			}
		})
	}
}
