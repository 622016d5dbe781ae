package team_test

import (
	"testing"

	"github.com/google/uuid"

	"muster/domain/team"
)

// TestAWorldHoldsOnlyItemsAboutItsServers: an item that names no server is about the whole organization.
func TestAWorldHoldsOnlyItemsAboutItsServers(t *testing.T) {
	t.Parallel()
	acts, sees, unseen := uuid.New(), uuid.New(), uuid.New()
	world := team.World{acts: true, sees: false}
	for name, c := range map[string]struct {
		world     team.World
		instances []uuid.UUID
		want      bool
	}{
		"one that is seen":    {world, []uuid.UUID{sees}, true},
		"all":                 {world, []uuid.UUID{sees, acts}, true},
		"one that is not":     {world, []uuid.UUID{sees, unseen}, false},
		"no server":           {world, nil, false},
		"nobody's world":      {team.World{}, []uuid.UUID{sees}, false},
		"nothing, in none":    {team.World{}, nil, false},
		"the whole, anything": {nil, []uuid.UUID{unseen}, true},
		"the whole, nothing":  {nil, nil, true},
	} {
		if got := c.world.Holds(c.instances); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if !world.Sees(sees) || world.Sees(unseen) || !world.Acts(acts) || world.Acts(sees) || world.Acts(unseen) {
		t.Error("somebody sees or acts on the wrong servers")
	}
	if n := len(world.Instances()); n != 2 || team.World(nil).Instances() != nil || (team.World{}).Instances() == nil {
		t.Errorf("the world has %d servers, and none and all are not told apart", n)
	}
}
