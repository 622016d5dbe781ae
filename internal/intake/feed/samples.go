package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/fleet"
	"muster/internal/intake"
	"muster/internal/intake/places"
	"muster/internal/measurements"
)

// Items are the samples of one call, as openapi.yaml has them: instances and databases
// by external ids, numbers as they are written.
type Items struct {
	Hosts      []HostItem
	Sessions   []SessionItem
	Statements []StatementItem
}

// HostItem is what was measured of a host.
type HostItem struct {
	Host                      string
	Instances                 []string
	At                        time.Time
	CPUPercent, MemoryPercent *json.Number
	Volumes                   []VolumeItem // nil: nothing was measured of them
}

// VolumeItem is one volume of a host.
type VolumeItem struct {
	Mount       string
	UsedPercent json.Number
}

// SessionItem is what the sessions of a database did at a time.
type SessionItem struct {
	Active            json.Number
	At                time.Time
	Database          string
	Idle              json.Number
	IdleInTransaction json.Number
	Instance          string
	IntervalSeconds   *json.Number
	Other             json.Number
	Waiting           json.Number
	Waits             map[string]json.Number
}

// StatementItem is what the statements of a database did in an interval.
type StatementItem struct {
	At                 time.Time
	Instance, Database string
	IntervalSeconds    json.Number
	Statements         []DeltaItem
}

// DeltaItem is what one statement did in it.
type DeltaItem struct {
	Calls   json.Number
	Key     string
	MaxMs   *json.Number
	TotalMs json.Number
}

// maxItems is how many there may be in one call.
const maxItems = 10_000

// Samples takes what another tool measured.
type Samples struct {
	Places Places
	Store  intake.Store
	Now    func() time.Time
}

// Take records samples, all or nothing: nothing is written before every rule has been
// held against every one. Errors: *commands.RuleError, *intake.LaggingError.
func (d *Samples) Take(ctx context.Context, from intake.Caller, items Items) (receipt intake.Receipt, err error) {
	if n := len(items.Hosts) + len(items.Sessions) + len(items.Statements); n > maxItems {
		return receipt, tooManyItems(n)
	}
	found := items.keys()
	if err := d.Places.Keyed(ctx, from.OrganizationID, found); err != nil {
		return receipt, err
	}
	if err := d.keepToLimit(ctx, from, items, found); err != nil {
		return receipt, err
	}
	batch, err := readItems(items, found, d.Now())
	if err != nil {
		return receipt, err
	}
	batch.Organization = from.OrganizationID
	if err := d.addEngines(ctx, &batch); err != nil {
		return receipt, err
	}
	written, err := d.Store.Record(ctx, batch)
	if err == nil {
		receipt.RecordSamples(written)
	}
	return receipt, err
}

// keys are the instances and databases that something names.
func (i Items) keys() map[places.Key]commands.Place {
	keys := map[places.Key]commands.Place{}
	for _, h := range i.Hosts {
		for _, name := range h.Instances {
			keys[places.Key{Instance: name}] = commands.Place{}
		}
	}
	for _, s := range i.Sessions {
		keys[places.Key{Instance: s.Instance, Database: s.Database}] = commands.Place{}
	}
	for _, s := range i.Statements {
		keys[places.Key{Instance: s.Instance, Database: s.Database}] = commands.Place{}
	}
	return keys
}

// keepToLimit refuses what a limited token may not say.
func (d *Samples) keepToLimit(ctx context.Context, from intake.Caller, items Items, found map[places.Key]commands.Place) error {
	if from.Limit == nil {
		return nil
	}
	hosts := make([]string, 0, len(items.Hosts))
	for _, h := range items.Hosts {
		hosts = append(hosts, h.Host)
	}
	known, err := d.Places.KnownOn(ctx, from.OrganizationID, hosts)
	if err != nil {
		return err
	}
	var outside []string
	for i, h := range items.Hosts {
		outside = append(outside, outsideOf(from.Limit, fmt.Sprintf("#/hosts/%d", i), h, found, known[h.Host])...)
	}
	for i, s := range items.Sessions {
		if !from.Limit.Allows(found[places.Key{Instance: s.Instance, Database: s.Database}].Instance) {
			outside = append(outside, fmt.Sprintf("#/sessions/%d/instance", i))
		}
	}
	for i, s := range items.Statements {
		if !from.Limit.Allows(found[places.Key{Instance: s.Instance, Database: s.Database}].Instance) {
			outside = append(outside, fmt.Sprintf("#/statements/%d/instance", i))
		}
	}
	if len(outside) > 0 {
		return commands.OutsideLimit(outside)
	}
	return nil
}

// outsideOf are the members of a host by which it is beyond a limit.
func outsideOf(limit fleet.Limit, at string, h HostItem, found map[places.Key]commands.Place, known []uuid.UUID) (outside []string) {
	named := make([]uuid.UUID, 0, len(h.Instances))
	for i, name := range h.Instances {
		id := found[places.Key{Instance: name}].Instance
		if named = append(named, id); !limit.Allows(id) {
			outside = append(outside, fmt.Sprintf("%s/instances/%d", at, i))
		}
	}
	switch {
	case len(outside) > 0 || limit.AllowsHost(named, known):
		return outside
	case len(named) == 0:
		return []string{at + "/instances"}
	}
	return []string{at + "/host"}
}

// addEngines puts in what the samples' instances are.
func (d *Samples) addEngines(ctx context.Context, batch *measurements.Batch) error {
	of := map[uuid.UUID]fleet.Engine{}
	for _, s := range batch.Sessions {
		of[s.Instance] = ""
	}
	for _, s := range batch.Statements {
		of[s.Instance] = ""
	}
	ids := make([]uuid.UUID, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	of, err := d.Places.Engines(ctx, batch.Organization, ids)
	if err != nil {
		return err
	}
	for i := range batch.Sessions {
		batch.Sessions[i].Engine = of[batch.Sessions[i].Instance]
	}
	for i := range batch.Statements {
		batch.Statements[i].Engine = of[batch.Statements[i].Instance]
	}
	return nil
}
