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
		elsewhere    bool // one of those named is registered on another host
		want         bool
	}{
		"no limit":                             {everything, nil, is(theirs), false, true},
		"its own, nothing known":               {two, is(mine), nil, false, true},
		"its own, known to run its own":        {two, is(mine), is(too), false, true},
		"its own, known to run one of its own": {two, is(mine), is(theirs, too), true, false},
		"its own, known to run others":         {two, is(mine), is(theirs), false, false},
		"its own, moved":                       {two, is(mine), nil, true, false},
		"its own, moved among its own":         {two, is(mine), is(too), true, true},
		"one of its own":                       {two, is(mine, theirs), is(mine), false, false},
		"another's":                            {two, is(theirs), nil, false, false},
		"one that there is not":                {two, is(uuid.Nil), is(mine), false, false},
		"none named, nothing known":            {two, nil, nil, false, false},
		"none named, all its own":              {two, nil, is(mine, too), false, true},
		"none named, one of its own":           {two, nil, is(mine, theirs), false, false},
		"none named, others":                   {two, is(), is(theirs), false, false},
		"of nothing":                           {nothing, nil, is(mine), false, false},
	} {
		if got := c.limit.AllowsHost(fleet.HostClaim{Named: c.named, Known: c.known, Elsewhere: c.elsewhere}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
