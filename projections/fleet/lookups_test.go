package fleet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/internal/postgres/statement"
)

// TestEngines: of the organization and of what is there now.
func TestEngines(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	asked := []uuid.UUID{f.orders, f.billing, f.gone, f.again, f.foreign, f.orders, id(99)}
	got, err := f.reader.Engines(t.Context(), f.acme, asked)
	want := map[uuid.UUID]domain.Engine{f.orders: domain.PostgreSQL, f.billing: domain.Oracle, f.again: domain.PostgreSQL}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for name, of := range map[string]uuid.UUID{"a stranger": f.other, "nobody": uuid.Nil} {
		if got, err := f.reader.Engines(t.Context(), of, []uuid.UUID{f.orders}); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestInstancesOn(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	hosts := []string{"host-orders", "HOST-ORDERS", "", "host-archive", "nobody"}
	got, err := f.reader.InstancesOn(t.Context(), f.acme, hosts)
	want := map[string][]uuid.UUID{"host-orders": {f.orders, f.ordersToo}, "HOST-ORDERS": {f.orders, f.ordersToo}, "host-archive": {f.again}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if theirs, err := f.reader.InstancesOn(t.Context(), f.other, hosts); err != nil || !cmp.Equal(theirs, map[string][]uuid.UUID{"host-orders": {f.foreign}, "HOST-ORDERS": {f.foreign}}) {
		t.Errorf("a stranger's: %v, %v", theirs, err)
	}
}

// TestNamesOfPresentInstances: removed instances have no name, and only active instances are named
// as such.
func TestNamesOfPresentInstances(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	active := map[uuid.UUID]string{f.orders: "orders", f.ordersToo: "orders", f.again: "archive"}
	for name, c := range map[string]struct {
		of   uuid.UUID
		ids  []uuid.UUID
		want map[uuid.UUID]string
	}{
		"all":         {f.acme, nil, active},
		"some":        {f.acme, []uuid.UUID{f.orders, f.billing, f.gone, f.foreign}, map[uuid.UUID]string{f.orders: "orders"}},
		"a stranger":  {f.other, nil, map[uuid.UUID]string{f.foreign: "orders"}},
		"not theirs":  {f.other, []uuid.UUID{f.orders}, map[uuid.UUID]string{}},
		"nobody asks": {uuid.Nil, nil, map[uuid.UUID]string{}},
	} {
		got, err := f.reader.ActiveNames(t.Context(), c.of, c.ids)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	some := []uuid.UUID{f.orders, f.billing, f.gone, f.foreign}
	if got, err := f.reader.Activity(t.Context(), f.acme, domain.Scope{Filtered: true, Instances: some}, nil); err != nil || !cmp.Equal(got, map[uuid.UUID]bool{f.orders: true, f.billing: false}) {
		t.Errorf("activity of some: %v, %v", got, err)
	}
	if got, err := f.reader.Activity(t.Context(), f.acme, domain.Scope{Filtered: true}, nil); err != nil || len(got) != 0 {
		t.Errorf("activity where nothing is in scope: %v, %v", got, err)
	}
	if got, err := f.reader.Activity(t.Context(), f.acme, domain.Scope{}, []domain.Engine{domain.MongoDB}); err != nil || len(got) != 0 {
		t.Errorf("activity of an engine that nobody has: %v, %v", got, err)
	}
	asked := []uuid.UUID{f.sales, f.salesToo, f.dropped}
	if got, err := f.reader.DatabaseNames(t.Context(), f.acme, asked); err != nil || !cmp.Equal(got, map[uuid.UUID]string{f.sales: "sales", f.salesToo: "crm"}) {
		t.Errorf("databases %v, %v", got, err)
	}
	if got, err := f.reader.DatabaseNames(t.Context(), f.other, asked); err != nil || len(got) != 0 {
		t.Errorf("a stranger's databases %v, %v", got, err)
	}
	if d, ok, err := f.reader.Database(t.Context(), f.acme, f.sales); err != nil || !ok || d.Name != "sales" || d.InstanceID != f.orders {
		t.Errorf("%+v, %v, %v", d, ok, err)
	}
	for name, c := range map[string]struct{ of, database uuid.UUID }{"a stranger": {f.other, f.sales}, "dropped": {f.acme, f.dropped}} {
		if _, ok, err := f.reader.Database(t.Context(), c.of, c.database); ok || err != nil {
			t.Errorf("%s finds it: %v", name, err)
		}
	}
}

// TestHostLookup: SQL's key of a host is one of those that Go looks for, in every spelling of
// the host. C14.
func TestHostLookup(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	for _, same := range [][]string{
		{"db7.example.org", "DB7.Example.ORG", "db7.example.org.", "db7.example.org:9100", "db7"},
		{"2001:db8::1", "[2001:DB8::1]", "[2001:db8::1]:9100", "2001:0db8:0:0:0:0:0:0001", "2001:db8::1%eth0"},
		{"192.0.2.7", "192.0.2.7:9100", "::ffff:192.0.2.7", "::FFFF:C000:0207", "[::ffff:c000:207]:1"},
		{"1::", "1:0:0:0:0:0:0:0"}, {"::1", "[::1]:9100"},
		{"sql01", `SQL01\INST`, "SQL01,1433", "SQL01:1433"},
		{"xn--mnchen-3ya.example", "münchen.example"},
	} {
		for _, registered := range same {
			for _, asked := range same {
				found, err := statement.One[bool](t.Context(), f.db, "look up", `SELECT host_lookup($1) = ANY ($2)`, registered, domain.HostLookups(asked))
				if err != nil || !found {
					t.Errorf("%s does not find %s in %q: %v", asked, registered, domain.HostLookups(asked), err)
				}
			}
		}
	}
}
