package fleet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	domain "muster/domain/fleet"
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
	want := map[string][]uuid.UUID{"host-orders": {f.orders, f.ordersToo}, "host-archive": {f.again}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if theirs, err := f.reader.InstancesOn(t.Context(), f.other, hosts); err != nil || !cmp.Equal(theirs, map[string][]uuid.UUID{"host-orders": {f.foreign}}) {
		t.Errorf("a stranger's: %v, %v", theirs, err)
	}
}
