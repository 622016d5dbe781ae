package fleet_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/fleet"
)

var (
	noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	pg   = fleet.InstanceDetails{Name: "orders", Engine: fleet.PostgreSQL, Version: "15.18", Host: "db01", Active: true, CreatedAt: noon}
)

func registered() fleet.Event {
	return fleet.InstanceRegistered{ExternalID: "pg-1", Name: "orders", Engine: fleet.PostgreSQL, Version: "15.18", Host: "db01", Active: true, CreatedAt: noon}
}

func TestInstance(t *testing.T) {
	t.Parallel()
	renamed, idle, both, oracle := pg, pg, pg, pg
	renamed.Name = "billing"
	idle.Active = false
	oracle.Engine = fleet.Oracle
	both.Host, both.Active = "db02", false
	for _, c := range []struct {
		name  string
		given []fleet.Event
		when  func(i *fleet.Instance) ([]fleet.Event, error)
		then  []fleet.Event
		gone  bool
	}{
		{"named for the first time, it is registered", nil,
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Register("pg-1", pg) }, []fleet.Event{registered()}, false},
		{"sent again, nothing happens", []fleet.Event{registered()},
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Register("pg-1", pg) }, nil, false},
		{"a new name is a change", []fleet.Event{registered()},
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Change(renamed) },
			[]fleet.Event{fleet.InstanceChanged{Name: "billing", Engine: fleet.PostgreSQL, Version: "15.18", Host: "db01", CreatedAt: noon, FormerName: "orders"}}, false},
		{"another engine is another server", []fleet.Event{registered()},
			func(i *fleet.Instance) ([]fleet.Event, error) {
				_, err := i.Change(oracle)
				if fixed := (*fleet.EngineFixedError)(nil); !errors.As(err, &fixed) || fixed.Is != fleet.PostgreSQL {
					t.Errorf("the engine changes: %v", err)
				}
				return nil, nil
			}, nil, false},
		{"deactivated", []fleet.Event{registered()},
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Change(idle) }, []fleet.Event{fleet.InstanceDeactivated{}}, false},
		{"activated again", []fleet.Event{registered(), fleet.InstanceDeactivated{}},
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Change(pg) }, []fleet.Event{fleet.InstanceActivated{}}, false},
		{"moved and deactivated", []fleet.Event{registered()},
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Change(both) },
			[]fleet.Event{
				fleet.InstanceChanged{Name: "orders", Engine: fleet.PostgreSQL, Version: "15.18", Host: "db02", CreatedAt: noon, FormerHost: "db01"},
				fleet.InstanceDeactivated{},
			}, false},
		{"removed", []fleet.Event{registered()},
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Remove(), nil }, []fleet.Event{fleet.InstanceRemoved{}}, false},
		{"removed twice is removed once", []fleet.Event{registered(), fleet.InstanceRemoved{}},
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Remove(), nil }, nil, false},
		{"what is removed does not change", []fleet.Event{registered(), fleet.InstanceRemoved{}},
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Change(renamed) }, nil, true},
		{"registered again it needs a new id", []fleet.Event{registered(), fleet.InstanceRemoved{}},
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Register("pg-1", pg) }, nil, true},
		{"nobody changes what is unknown", nil,
			func(i *fleet.Instance) ([]fleet.Event, error) { return i.Change(pg) }, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var i fleet.Instance
			for _, e := range c.given {
				i.Apply(e)
			}
			got, err := c.when(&i)
			if diff := cmp.Diff(c.then, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			var removed *fleet.RemovedError
			if errors.As(err, &removed) != c.gone {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	instance := uuid.UUID{1}
	made := fleet.DatabaseRegistered{InstanceID: instance, ExternalID: "sales", Name: "sales", CreatedAt: noon}
	for _, c := range []struct {
		name  string
		given []fleet.Event
		when  func(d *fleet.Database) ([]fleet.Event, error)
		then  []fleet.Event
		gone  bool
	}{
		{"registered", nil,
			func(d *fleet.Database) ([]fleet.Event, error) { return d.Register(instance, "sales", "sales", noon) }, []fleet.Event{made}, false},
		{"sent again", []fleet.Event{made},
			func(d *fleet.Database) ([]fleet.Event, error) { return d.Register(instance, "sales", "sales", noon) }, nil, false},
		{"renamed", []fleet.Event{made},
			func(d *fleet.Database) ([]fleet.Event, error) { return d.Register(instance, "sales", "crm", noon) },
			[]fleet.Event{fleet.DatabaseChanged{Name: "crm", CreatedAt: noon}}, false},
		{"removed, with its instance on the event", []fleet.Event{made},
			func(d *fleet.Database) ([]fleet.Event, error) { return d.Remove(), nil }, []fleet.Event{fleet.DatabaseRemoved{InstanceID: instance}}, false},
		{"registered again it needs a new id", []fleet.Event{made, fleet.DatabaseRemoved{InstanceID: instance}},
			func(d *fleet.Database) ([]fleet.Event, error) { return d.Register(instance, "sales", "sales", noon) }, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var d fleet.Database
			for _, e := range c.given {
				d.Apply(e)
			}
			got, err := c.when(&d)
			if diff := cmp.Diff(c.then, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			var removed *fleet.RemovedError
			if errors.As(err, &removed) != c.gone {
				t.Errorf("error %v", err)
			}
		})
	}
}
