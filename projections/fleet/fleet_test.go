package fleet_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/fleet"
	"muster/projections/projectionstest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

type scene struct {
	t        *testing.T
	db       *sqlx.DB
	registry *eventstore.Registry
	stage    *projectionstest.Stage
	reader   *fleet.Reader
}

func newScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.URL(t)
	s := &scene{t: t, db: pgtest.Connect(t, url), registry: eventstore.NewRegistry()}
	for _, e := range domain.Events() {
		s.registry.Register(domain.Name(e), 1, e)
	}
	s.reader = fleet.NewReader(s.db)
	s.stage = projectionstest.Run(t, s.db, url, fleet.Projection(s.registry.Decode))
	return s
}

func (s *scene) happens(organization, stream uuid.UUID, facts ...domain.Event) {
	s.t.Helper()
	a := eventstore.Append{Organization: organization, StreamType: "instance", Stream: stream, Expected: eventstore.AnyVersion}
	for _, fact := range facts {
		e, err := s.registry.Encode(fact)
		if err != nil {
			s.t.Fatal(err)
		}
		a.Events = append(a.Events, e)
	}
	s.stage.Append(eventstore.Fleet, a)
}

var created = time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)

func instance(name string, engine domain.Engine) domain.InstanceRegistered {
	return domain.InstanceRegistered{
		ExternalID: "ext-" + name, Name: name, Engine: engine, Version: "15.18", Host: "host-" + name, Active: true, CreatedAt: created,
	}
}

func names(instances []fleet.Instance) (all string) {
	for _, i := range instances {
		all += fmt.Sprintf("%s(%d) ", i.Name, i.DatabaseCount)
	}
	return all
}

func TestFleet(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, other := uuid.New(), uuid.New()
	orders, billing, gone, foreign := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	db1, db2, db3, goneDB := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	database := func(instance uuid.UUID, name string) domain.DatabaseRegistered {
		return domain.DatabaseRegistered{InstanceID: instance, ExternalID: "ext-" + name, Name: name, CreatedAt: created}
	}
	s.happens(acme, orders, instance("orders", domain.PostgreSQL))
	s.happens(acme, billing, instance("Billing", domain.Oracle), domain.InstanceDeactivated{})
	s.happens(acme, gone, instance("gone", domain.PostgreSQL))
	s.happens(other, foreign, instance("foreign", domain.PostgreSQL))
	s.happens(acme, db1, database(orders, "orders"))
	s.happens(acme, db2, database(orders, "archive"))
	s.happens(acme, db3, database(orders, "dropped"))
	s.happens(acme, goneDB, database(gone, "goes with its instance"))
	s.happens(uuid.New(), uuid.New(), database(orders, "a stranger's, on an instance that is not theirs"))
	s.stage.Settle()
	s.happens(acme, orders, domain.InstanceChanged{Name: "orders", Engine: domain.PostgreSQL, Version: "16.1", Host: "db01", CreatedAt: created})
	s.happens(acme, orders, domain.InstanceTagged{Set: map[string]string{"env": "test", "zone": "a"}, By: domain.ByFeed("cmdb")})
	s.happens(acme, orders, domain.InstanceTagged{Set: map[string]string{"env": "prod"}})
	s.happens(acme, db3, domain.DatabaseRemoved{InstanceID: orders})
	s.happens(acme, gone, domain.InstanceRemoved{})
	s.stage.Settle()

	inactive := false
	tests := map[string]struct {
		query fleet.Query
		want  string
		total int64
	}{
		"all, by name":      {fleet.Query{Page: 1, Size: 10}, "Billing(0) orders(2) ", 2},
		"descending":        {fleet.Query{Page: 1, Size: 10, Descending: true}, "orders(2) Billing(0) ", 2},
		"second page":       {fleet.Query{Page: 2, Size: 1}, "orders(2) ", 2},
		"one engine":        {fleet.Query{Page: 1, Size: 10, Engines: []domain.Engine{domain.Oracle}}, "Billing(0) ", 1},
		"inactive":          {fleet.Query{Page: 1, Size: 10, Active: &inactive}, "Billing(0) ", 1},
		"part of a name":    {fleet.Query{Page: 1, Size: 10, Search: "ILL"}, "Billing(0) ", 1},
		"part of a host":    {fleet.Query{Page: 1, Size: 10, Search: "DB01"}, "orders(2) ", 1},
		"part of an engine": {fleet.Query{Page: 1, Size: 10, Search: "Oracl"}, "Billing(0) ", 1},
		"an engine, spaced": {fleet.Query{Page: 1, Size: 10, Search: "Postgre SQL"}, "orders(2) ", 1},
		"part of a version": {fleet.Query{Page: 1, Size: 10, Search: "16."}, "orders(2) ", 1},
		"no pattern":        {fleet.Query{Page: 1, Size: 10, Search: "%"}, "", 0},
		"ids, one gone":     {fleet.Query{Page: 1, Size: 10, IDs: []uuid.UUID{orders, gone, foreign}}, "orders(2) ", 1},
		"a tag":             {fleet.Query{Page: 1, Size: 10, Tags: domain.TagFilter{"env": {"dev", "prod"}, "zone": {"a"}}}, "orders(2) ", 1},
		"a former tag":      {fleet.Query{Page: 1, Size: 10, Tags: domain.TagFilter{"env": {"test"}}}, "", 0},
		"only unknown id":   {fleet.Query{Page: 1, Size: 10, IDs: []uuid.UUID{foreign}}, "", 0},
	}
	for name, test := range tests {
		test.query.Organization = acme
		got, total, err := s.reader.Instances(t.Context(), test.query)
		if err != nil || names(got) != test.want || total != test.total {
			t.Errorf("%s: %q of %d, %v, want %q of %d", name, names(got), total, err, test.want, test.total)
		}
	}

	want := fleet.Instance{
		ID: orders, OrganizationID: acme, ExternalID: "ext-orders", Name: "orders", Engine: domain.PostgreSQL,
		Version: "16.1", Host: "db01", Active: true, CreatedAt: created, DatabaseCount: 2,
		Tags: fleet.Tags{"env": {Value: "prod"}, "zone": {Value: "a", By: domain.ByFeed("cmdb")}},
	}
	if got, ok, err := s.reader.Instance(t.Context(), acme, orders); err != nil || !ok || !cmp.Equal(want, got) {
		t.Errorf("instance: %v %v\n%s", ok, err, cmp.Diff(want, got))
	}
	for _, id := range []uuid.UUID{foreign, gone, uuid.New()} {
		if _, ok, err := s.reader.Instance(t.Context(), acme, id); ok || err != nil {
			t.Errorf("an instance that is not there: %v %v", ok, err)
		}
	}
	databases, total, err := s.reader.Databases(t.Context(), acme, orders, "", 1, 1)
	if err != nil || total != 2 || len(databases) != 1 || databases[0].Name != "archive" {
		t.Errorf("databases: %v of %d, %v", databases, total, err)
	}
	if _, total, err := s.reader.Databases(t.Context(), other, orders, "", 1, 10); err != nil || total != 0 {
		t.Errorf("a stranger sees %d databases, %v", total, err)
	}
	found, err := s.reader.InstanceNames(t.Context(), acme, []uuid.UUID{orders, gone, foreign})
	if err != nil || !cmp.Equal(found, map[uuid.UUID]string{orders: "orders"}) {
		t.Errorf("names: %v, %v", found, err)
	}
	if name, ok, err := s.reader.DatabaseOn(t.Context(), acme, orders, db1); err != nil || !ok || name != "orders" {
		t.Errorf("database on its instance: %q %v %v", name, ok, err)
	}
	for _, absent := range [][3]uuid.UUID{{acme, billing, db1}, {other, orders, db1}, {acme, orders, db3}, {acme, gone, goneDB}} {
		if _, ok, err := s.reader.DatabaseOn(t.Context(), absent[0], absent[1], absent[2]); ok || err != nil {
			t.Errorf("a database that is not there: %v %v", ok, err)
		}
	}
	difference, err := s.stage.Rebuild(t.Context(), fleet.Name, projections.RebuildOptions{}, nil)
	if err != nil || !difference.Empty() {
		t.Errorf("rebuild gives %+v, %v", difference, err)
	}
}
