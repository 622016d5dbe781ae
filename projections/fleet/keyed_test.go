package fleet_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/projections/fleet"
)

// TestKeyed: what samples name is found by external id and nothing else, of the
// organization and of what is there now.
func TestKeyed(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	found, err := f.reader.Keyed(t.Context(), f.acme, []string{"pg-1", "PG-2", "pg-3", "host-orders", "orders", "", "pg-1"})
	got := map[string]uuid.UUID{}
	for _, i := range found {
		got[i.ExternalID] = i.ID
		if i.OrganizationID != f.acme || i.ID == f.orders && i.Engine != domain.PostgreSQL {
			t.Errorf("found %+v", i)
		}
	}
	want := map[string]uuid.UUID{"pg-1": f.orders, "pg-3": f.again, "host-orders": f.billing}
	if diff := cmp.Diff(want, got); err != nil || len(found) != len(want) || diff != "" {
		t.Errorf("%d instances: %v\n%s", len(found), err, diff)
	}
	all := []uuid.UUID{f.orders, f.orders, f.ordersToo, f.ordersToo, f.gone, f.orders, f.foreign}
	names := []string{"db-1", "sales", "sales", "db-1", "db-1", "db-2", "db-1"} // on each of them
	databases, err := f.reader.DatabasesKeyed(t.Context(), f.acme, all, names)
	slices.SortFunc(databases, func(a, b fleet.Database) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	if err != nil || len(databases) != 2 || databases[0].ID != f.sales || databases[0].ExternalID != "db-1" || databases[1].ID != f.salesToo || databases[1].InstanceID != f.ordersToo {
		t.Errorf("databases: %+v, %v", databases, err)
	}
	for name, test := range map[string]struct {
		organization uuid.UUID
		instances    []uuid.UUID
		names        []string
	}{"a stranger": {f.other, all, names}, "nothing": {f.acme, nil, nil}} {
		if found, err := f.reader.DatabasesKeyed(t.Context(), test.organization, test.instances, test.names); err != nil || len(found) != 0 {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

func TestInstancesOn(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	hosts := []string{"host-orders", "HOST-ORDERS", "", "host-archive", "nobody"}
	got, err := f.reader.InstancesOn(t.Context(), f.acme, hosts)
	want := map[string][]uuid.UUID{"host-orders": {f.orders, f.ordersToo}, "host-archive": {f.again}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if theirs, err := f.reader.InstancesOn(t.Context(), f.other, hosts); err != nil || !cmp.Equal(theirs, map[string][]uuid.UUID{"host-orders": {f.foreign}}) {
		t.Errorf("a stranger's: %v, %v", theirs, err)
	}
}
