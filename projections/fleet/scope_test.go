package fleet_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/domain/team"
	"muster/projections/fleet"
)

// fleetOf is a small fleet with everything that makes filters hard: a name that repeats, a name
// that is another's host, an instance that was removed and registered again, an inactive
// instance, and another organization with the same names.
type fleetOf struct {
	*scene
	acme, other                             uuid.UUID
	orders, ordersToo, billing, gone, again uuid.UUID
	foreign                                 uuid.UUID
	sales, salesToo, dropped                uuid.UUID
}

// id makes ids that sort in the order of n.
func id(n byte) uuid.UUID { return uuid.UUID{0: n, 6: 0x70, 8: 0x80} }

func newFleet(t *testing.T) fleetOf {
	t.Helper()
	f := fleetOf{
		scene: newScene(t), acme: uuid.New(), other: uuid.New(),
		orders: id(1), ordersToo: id(2), billing: id(3), gone: id(4), again: id(5), foreign: id(6),
		sales: id(11), salesToo: id(12), dropped: id(13),
	}
	since := func(i domain.InstanceRegistered, days int, key string) domain.InstanceRegistered {
		i.CreatedAt, i.ExternalID = created.AddDate(0, 0, days), key
		return i
	}
	database := func(instance uuid.UUID, key, name string, days int) domain.DatabaseRegistered {
		return domain.DatabaseRegistered{InstanceID: instance, ExternalID: key, Name: name, CreatedAt: created.AddDate(0, 0, days)}
	}
	f.happens(f.acme, f.orders, since(instance("orders", domain.PostgreSQL), 2, "pg-1"))
	f.happens(f.acme, f.ordersToo, since(instance("orders", domain.PostgreSQL), 4, "pg-2"))
	f.happens(f.acme, f.orders, domain.InstanceTagged{Set: map[string]string{"env": "prod", "team": "a"}, By: domain.ByFeed("")})
	f.happens(f.acme, f.ordersToo, domain.InstanceTagged{Set: map[string]string{"env": "test"}})
	f.happens(f.other, f.foreign, since(instance("orders", domain.PostgreSQL), -5, "pg-1"), domain.InstanceTagged{Set: map[string]string{"env": "prod", "team": "a"}})
	nowhere := since(instance("Billing", domain.Oracle), 1, "host-orders")
	nowhere.Host = ""
	f.happens(f.acme, f.billing, nowhere, domain.InstanceDeactivated{})
	f.happens(f.acme, f.gone, since(instance("archive", domain.PostgreSQL), 0, "pg-3"))
	f.happens(f.acme, f.sales, database(f.orders, "db-1", "sales", 2))
	f.happens(f.acme, f.salesToo, database(f.ordersToo, "sales", "crm", 5))
	f.happens(f.acme, f.dropped, database(f.orders, "db-2", "dropped", 2))
	f.happens(f.acme, id(14), database(f.gone, "db-1", "sales", 0))
	f.happens(f.acme, f.gone, domain.InstanceRemoved{})
	f.happens(f.acme, f.dropped, domain.DatabaseRemoved{InstanceID: f.orders})
	f.happens(f.acme, f.again, since(instance("archive", domain.PostgreSQL), 6, "pg-3"))
	f.stage.Settle()
	return f
}

func TestScope(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	day := func(days int) *time.Time { at := created.AddDate(0, 0, days); return &at }
	for name, test := range map[string]struct {
		ids    []uuid.UUID
		names  []string
		tags   domain.TagFilter
		want   domain.Scope
		counts fleet.Counts // then is day 4, on which an instance was registered
		since  *time.Time
	}{
		"no filter is the organization": {
			want:   domain.Scope{},
			counts: fleet.Counts{Instances: 4, InstancesThen: 3, Databases: 2, DatabasesThen: 1}, since: day(1),
		},
		"a name that repeats is all of them": {
			names: []string{"orders"}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{f.orders, f.ordersToo}},
			counts: fleet.Counts{Instances: 2, InstancesThen: 2, Databases: 2, DatabasesThen: 1}, since: day(2),
		},
		"a name with other letters is another name": {
			names: []string{"billing", "ORDERS", "orders "}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{}},
		},
		"an inactive one counts": {
			names: []string{"Billing"}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{f.billing}},
			counts: fleet.Counts{Instances: 1, InstancesThen: 1}, since: day(1),
		},
		"registered again it is a new one": {
			names: []string{"archive"}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{f.again}},
			counts: fleet.Counts{Instances: 1}, since: day(6),
		},
		"removed, foreign and unknown ids are nothing, and not everything": {
			ids: []uuid.UUID{f.gone, f.foreign, uuid.New(), uuid.Nil}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{}},
		},
		"a tag": {
			tags: domain.TagFilter{"env": {"prod"}}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{f.orders}},
			counts: fleet.Counts{Instances: 1, InstancesThen: 1, Databases: 1, DatabasesThen: 1}, since: day(2),
		},
		"of one key either value": {
			tags: domain.TagFilter{"env": {"test", "prod"}}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{f.orders, f.ordersToo}},
			counts: fleet.Counts{Instances: 2, InstancesThen: 2, Databases: 2, DatabasesThen: 1}, since: day(2),
		},
		"each key": {tags: domain.TagFilter{"env": {"test"}, "team": {"a"}}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{}}},
		"a tag and names": {
			tags: domain.TagFilter{"env": {"test"}}, names: []string{"orders"}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{f.ordersToo}},
			counts: fleet.Counts{Instances: 1, InstancesThen: 1, Databases: 1}, since: day(4),
		},
		"a tag and ids": {
			tags: domain.TagFilter{"env": {"prod"}}, ids: []uuid.UUID{f.ordersToo, f.foreign}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{}},
		},
		"a key that nothing has": {tags: domain.TagFilter{"zone": {"a"}}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{}}},
		"ids in any order, and twice": {
			ids: []uuid.UUID{f.billing, f.gone, f.orders, f.billing}, want: domain.Scope{Filtered: true, Instances: []uuid.UUID{f.orders, f.billing}},
			counts: fleet.Counts{Instances: 2, InstancesThen: 2, Databases: 1, DatabasesThen: 1}, since: day(1),
		},
	} {
		t.Run(name, func(t *testing.T) {
			scope, err := f.reader.Scope(t.Context(), f.acme, test.ids, test.names, test.tags)
			if err != nil || !cmp.Equal(scope, test.want) {
				t.Fatalf("scope %+v, %v, want %+v", scope, err, test.want)
			}
			if counts, err := f.reader.Counts(t.Context(), f.acme, scope, *day(4)); err != nil || counts != test.counts {
				t.Errorf("counts %+v, %v, want %+v", counts, err, test.counts)
			}
			databases, err := f.reader.DatabasesIn(t.Context(), f.acme, scope)
			if err != nil || int64(len(databases)) != test.counts.Databases || slices.Contains(databases, f.dropped) {
				t.Errorf("databases %v, %v, want %d", databases, err, test.counts.Databases)
			}
			since, err := f.reader.MonitoringStartedIn(t.Context(), f.acme, scope)
			if err != nil || !cmp.Equal(since, test.since) {
				t.Errorf("monitored since %v, %v, want %v", since, err, test.since)
			}
		})
	}
	everything := domain.Scope{Filtered: true, Instances: []uuid.UUID{f.orders, f.ordersToo, f.billing, f.again}}
	if counts, err := f.reader.Counts(t.Context(), f.other, everything, *day(9)); err != nil || counts != (fleet.Counts{}) {
		t.Errorf("a stranger counts %+v with another's ids, %v", counts, err)
	}
	if since, err := f.reader.MonitoringStartedIn(t.Context(), f.other, everything); err != nil || since != nil {
		t.Errorf("a stranger sees since when another is monitored: %v, %v", since, err)
	}
	if counts, err := f.reader.Counts(t.Context(), f.acme, domain.Scope{Filtered: true}, *day(9)); err != nil || counts != (fleet.Counts{}) {
		t.Errorf("an empty scope counts %+v, %v", counts, err)
	}
}

// TestTheDatabasesAndHostsOfAScope are listed without those of strangers and removed ones.
func TestTheDatabasesAndHostsOfAScope(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	for name, test := range map[string]struct {
		organization uuid.UUID
		scope        domain.Scope
		databases    []uuid.UUID
		hosts        []string
	}{
		"the organization":         {f.acme, domain.Scope{}, []uuid.UUID{f.sales, f.salesToo}, []string{"host-archive", "host-orders"}},
		"two of one host":          {f.acme, domain.Scope{Filtered: true, Instances: []uuid.UUID{f.orders, f.ordersToo}}, []uuid.UUID{f.sales, f.salesToo}, []string{"host-orders"}},
		"one":                      {f.acme, domain.Scope{Filtered: true, Instances: []uuid.UUID{f.ordersToo}}, []uuid.UUID{f.salesToo}, []string{"host-orders"}},
		"one without a host":       {f.acme, domain.Scope{Filtered: true, Instances: []uuid.UUID{f.billing}}, []uuid.UUID{}, []string{}},
		"nothing":                  {f.acme, domain.Scope{Filtered: true}, []uuid.UUID{}, []string{}},
		"a removed and a foreign":  {f.acme, domain.Scope{Filtered: true, Instances: []uuid.UUID{f.gone, f.foreign}}, []uuid.UUID{}, []string{}},
		"a stranger, with our ids": {f.other, domain.Scope{Filtered: true, Instances: []uuid.UUID{f.orders, f.ordersToo}}, []uuid.UUID{}, []string{}},
	} {
		databases, err := f.reader.DatabasesIn(t.Context(), test.organization, test.scope)
		slices.SortFunc(databases, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) })
		if err != nil || !cmp.Equal(databases, test.databases) {
			t.Errorf("%s: databases %v, %v, want %v", name, databases, err, test.databases)
		}
		hosts, err := f.reader.HostsIn(t.Context(), test.organization, test.scope)
		slices.Sort(hosts)
		if err != nil || !cmp.Equal(hosts, test.hosts) {
			t.Errorf("%s: hosts %v, %v, want %v", name, hosts, err, test.hosts)
		}
	}
}

func TestInstancesByReference(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	for reference, want := range map[string][]uuid.UUID{
		f.billing.String(): {f.billing},
		"pg-1":             {f.orders},
		"pg-3":             {f.again},
		"orders":           {f.orders, f.ordersToo},
		"host-orders":      {f.billing, f.orders, f.ordersToo}, // an external id, and hosts
		f.gone.String():    nil, f.foreign.String(): nil, "billing": nil, "nobody": nil, "": nil,
	} {
		found, err := f.reader.Called(t.Context(), f.acme, []string{reference, "", reference})
		var got []uuid.UUID
		for _, i := range found {
			got = append(got, i.ID)
		}
		slices.SortFunc(want, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) })
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("%q: %v\n%s", reference, err, cmp.Diff(want, got))
		}
	}
	both, err := f.reader.Called(t.Context(), f.acme, []string{"orders", "pg-1", "pg-3"})
	if err != nil || len(both) != 3 || both[0].Name == "" || both[0].ExternalID == "" {
		t.Errorf("several at once, each once: %+v, %v", both, err)
	}
	all := []uuid.UUID{f.orders, f.ordersToo, f.billing, f.gone, f.foreign}
	databases, err := f.reader.DatabasesCalled(t.Context(), f.acme, all, []string{"sales", "dropped", "CRM"})
	if err != nil || len(databases) != 2 || databases[0].ID != f.sales || databases[1].ID != f.salesToo || databases[1].InstanceID != f.ordersToo {
		t.Errorf("databases: %+v, %v", databases, err)
	}
	for name, test := range map[string]struct {
		organization uuid.UUID
		instances    []uuid.UUID
	}{"a stranger": {f.other, all}, "without instances": {f.acme, nil}} {
		if found, err := f.reader.DatabasesCalled(t.Context(), test.organization, test.instances, []string{"sales"}); err != nil || len(found) != 0 {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

func TestActiveAmong(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	asked := []uuid.UUID{f.orders, f.billing, f.gone, f.again, f.foreign, id(99)}
	organizations := slices.Repeat([]uuid.UUID{f.acme}, len(asked))
	active, err := f.reader.ActiveAmong(t.Context(), organizations, asked)
	if diff := cmp.Diff(map[uuid.UUID]bool{f.orders: true, f.again: true}, active); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// taggedAtRandom registers 20 servers of each of two organizations.
func (s *scene) taggedAtRandom(random *rand.Rand, acme uuid.UUID) map[uuid.UUID]map[string]string {
	tags := map[uuid.UUID]map[string]string{}
	for n := range byte(40) {
		tags[id(n)] = map[string]string{}
		for _, key := range []string{"env", "team", "zone"} {
			if random.IntN(3) > 0 {
				tags[id(n)][key] = string(rune('a' + random.IntN(3)))
			}
		}
		registered, organization := instance("i", domain.PostgreSQL), acme
		if registered.ExternalID = id(n).String(); n >= 20 {
			organization = uuid.UUID{15: 2}
		}
		s.happens(organization, id(n), registered, domain.InstanceTagged{Set: tags[id(n)]})
	}
	s.stage.Settle()
	return tags
}

// filterAtRandom is a filter by one to four values.
func filterAtRandom(random *rand.Rand) domain.TagFilter {
	filter := domain.TagFilter{}
	for range 1 + random.IntN(4) {
		filter.Add([]string{"env", "team", "zone", "none"}[random.IntN(4)], string(rune('a'+random.IntN(3))))
	}
	return filter
}

// TestFiltersByTags holds the statement to the rule: of one key any of the values, and each key.
func TestFiltersByTags(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, random := uuid.New(), rand.New(rand.NewPCG(37, 2))
	tags := s.taggedAtRandom(random, acme)
	for range 50 {
		filter := filterAtRandom(random)
		want := domain.Scope{Filtered: true, Instances: []uuid.UUID{}}
		for n := range byte(20) {
			passes := true
			for key, values := range filter {
				value, there := tags[id(n)][key]
				passes = passes && there && slices.Contains(values, value)
			}
			if passes {
				want.Instances = append(want.Instances, id(n))
			}
		}
		if got, err := s.reader.Scope(t.Context(), acme, nil, nil, filter); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%v: %v, %v, want %v", filter, got, err, want)
		}
		if _, total, err := s.reader.Instances(t.Context(), fleet.Query{Organization: acme, Tags: filter, Page: 1, Size: 1}); err != nil || total != int64(len(want.Instances)) {
			t.Errorf("%v: %d are listed, %v, want %d", filter, total, err, len(want.Instances))
		}
	}
}

// TestSelectorsFollowTheRule: the statements of teams hold to team.Selector, and stay within the organization.
func TestSelectorsFollowTheRule(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, random := uuid.New(), rand.New(rand.NewPCG(37, 3))
	given := s.taggedAtRandom(random, acme)
	some := func() []team.Selector {
		selectors := make([]team.Selector, random.IntN(3))
		for i := range selectors {
			if random.IntN(4) > 0 {
				selectors[i].Tags = filterAtRandom(random)
			}
			for range random.IntN(3) {
				selectors[i].InstanceIDs = append(selectors[i].InstanceIDs, id(byte(random.IntN(40))))
			}
		}
		return selectors
	}
	for range 50 {
		in, acting := some(), some()
		want, tags := team.World{}, map[uuid.UUID]domain.Tags{}
		for n := range byte(20) {
			of := domain.Tags{}
			for key, value := range given[id(n)] {
				of[key] = domain.Tag{Value: value}
			}
			if team.Owner(in, id(n), of) >= 0 {
				want[id(n)], tags[id(n)] = team.Owner(acting, id(n), of) >= 0, of
			}
		}
		if got, err := s.reader.World(t.Context(), acme, in, acting); err != nil || got == nil || !cmp.Equal(want, got) {
			t.Errorf("%v and %v: the world %v, %v, want %v", in, acting, got, err, want)
		}
		if got, err := s.reader.Matching(t.Context(), acme, in...); err != nil || !cmp.Equal(tags, got, cmpopts.EquateEmpty()) {
			t.Errorf("%v match %v, %v, want %v", in, got, err, tags)
		}
	}
}
