package fleet_test

import (
	"testing"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

// TestLimit is the one rule of what a token may speak of.
func TestLimit(t *testing.T) {
	t.Parallel()
	mine, too, theirs := uuid.New(), uuid.New(), uuid.New()
	is := func(ids ...uuid.UUID) []uuid.UUID { return ids }
	everything, nothing, two := fleet.Limit(nil), fleet.Limit{}, fleet.Limit{mine, too}
	for name, c := range map[string]struct {
		limit fleet.Limit
		of    uuid.UUID
		want  bool
	}{
		"no limit": {everything, theirs, true}, "no limit, the organization": {everything, uuid.Nil, true},
		"its own": {two, too, true}, "another's": {two, theirs, false}, "the organization": {two, uuid.Nil, false},
		"of nothing": {nothing, mine, false},
	} {
		if got := c.limit.Allows(c.of); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for name, c := range map[string]struct {
		limit        fleet.Limit
		named, known []uuid.UUID
		want         bool
	}{
		"no limit":                             {everything, nil, is(theirs), true},
		"its own, nothing known":               {two, is(mine), nil, true},
		"its own, known to run its own":        {two, is(mine), is(too), true},
		"its own, known to run one of its own": {two, is(mine), is(theirs, too), true},
		"its own, known to run others":         {two, is(mine), is(theirs), false},
		"one of its own":                       {two, is(mine, theirs), is(mine), false},
		"another's":                            {two, is(theirs), nil, false},
		"one that there is not":                {two, is(uuid.Nil), is(mine), false},
		"none named, nothing known":            {two, nil, nil, false},
		"none named, all its own":              {two, nil, is(mine, too), true},
		"none named, one of its own":           {two, nil, is(mine, theirs), false},
		"none named, others":                   {two, is(), is(theirs), false},
		"of nothing":                           {nothing, nil, is(mine), false},
	} {
		if got := c.limit.AllowsHost(c.named, c.known); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
