package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/intake"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/measurements/room"
)

// Items are the samples of one call, as openapi.yaml has them: instances and databases
// by external ids, numbers as they are written.
type Items struct {
	Sender     string // the sender that counted the statements; empty: not stated
	Hosts      []HostItem
	Sessions   []SessionItem
	Statements []StatementItem
	Blocking   []BlockingItem
	Servers    []ServerItem
	// Replication are looks at the replication of instances, at the places of ReplicationOf.
	Replication   []replication.State
	ReplicationOf []string // the instances' external ids
	Backups       []BackupLook
	// Room are looks at how full instances are, at the places of RoomOf.
	Room   []room.State
	RoomOf []string // the instances' external ids
}

// BlockingItem is who waits for whom on an instance at a time. The nodes' statements are as they
// were sent.
type BlockingItem struct {
	Instance        string
	At              time.Time
	IntervalSeconds json.Number
	Advisory        bool
	Omitted         int
	End             blocking.End
	Deadlock        *blocking.Deadlock
	Nodes           []blocking.Node
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
	Activity          []ActivityItem
	Deadlocks         *json.Number
}

// ActivityItem is a number of sessions that do the same for the same people.
type ActivityItem struct {
	measurements.Doing
	Sessions json.Number
}

// StatementItem is what the statements of a database did in an interval.
type StatementItem struct {
	At                 time.Time
	Instance, Database string
	IntervalSeconds    json.Number
	BusyMs             *json.Number
	Statements         []DeltaItem
}

// DeltaItem is what one statement did in it.
type DeltaItem struct {
	Calls          json.Number
	Key            string
	MaxMs          *json.Number
	Own, RanBefore *bool
	Text           *string // as it was sent
	TotalMs        json.Number
}

// TakeSamples records another tool's samples: nothing is written before every sample was
// checked against every rule. An agent may not send what Muster measures itself
// (assessed_by_collector), and statements come from one sender at a time (instance_held).
// Errors: *usecase.RuleError, *intake.LaggingError.
func (d *Doors) TakeSamples(ctx context.Context, from intake.Caller, items Items) (receipt intake.Receipt, err error) {
	places, err := d.Places.FindPlaces(ctx, from.OrganizationID, items.names())
	if err != nil {
		return receipt, err
	}
	found := items.found(places)
	if err := d.keepToLimit(ctx, from, items, found); err != nil {
		return receipt, err
	}
	batch, err := readItems(items, found, d.Now())
	if err != nil {
		return receipt, err
	}
	batch.Organization, batch.Token, batch.Sender = from.OrganizationID, from.Token, &items.Sender
	batch.Guard = d.refuseCollected(batch)
	if err := d.addEngines(ctx, &batch); err != nil {
		return receipt, err
	}
	if err := d.addTexts(ctx, items.Statements, batch); err != nil {
		return receipt, err
	}
	if err := d.cleanTexts(ctx, batch); err != nil {
		return receipt, err
	}
	written, err := d.Store.Record(ctx, batch)
	if err == nil {
		receipt.RecordSamples(written)
	}
	return receipt, found.refused(err)
}

// names are those of places in the items: of hosts, of sessions, of statements, of blocking, of servers, of
// replication, of backups, of room.
func (i Items) names() (names []inventory.PlaceName) {
	for _, h := range i.Hosts {
		for n := range h.Instances {
			names = append(names, inventory.PlaceName{Instance: &h.Instances[n]})
		}
	}
	for n := range i.Sessions {
		names = append(names, inventory.PlaceName{Instance: &i.Sessions[n].Instance, Database: &i.Sessions[n].Database})
	}
	for n := range i.Statements {
		names = append(names, inventory.PlaceName{Instance: &i.Statements[n].Instance, Database: &i.Statements[n].Database})
	}
	for n := range i.Blocking {
		names = append(names, inventory.PlaceName{Instance: &i.Blocking[n].Instance})
	}
	for n := range i.Servers {
		names = append(names, i.Servers[n].names()...)
	}
	for n := range i.ReplicationOf {
		names = append(names, inventory.PlaceName{Instance: &i.ReplicationOf[n]})
	}
	for n := range i.Backups {
		names = append(names, i.Backups[n].names()...)
	}
	for n := range i.RoomOf {
		names = append(names, inventory.PlaceName{Instance: &i.RoomOf[n]})
	}
	return names
}

// found is where the items are, each by its place among them; a host at many.
type found struct {
	hosts                                       [][]uuid.UUID
	sessions, statements, blocking, replication []inventory.Place
	room                                        []inventory.Place
	servers, looks                              []serverPlaces
}

// found puts the places of names back to their items.
func (i Items) found(places []inventory.Place) (f found) {
	for _, h := range i.Hosts {
		ids := make([]uuid.UUID, len(h.Instances))
		for n := range ids {
			ids[n] = places[n].Instance
		}
		f.hosts, places = append(f.hosts, ids), places[len(ids):]
	}
	f.sessions, places = places[:len(i.Sessions)], places[len(i.Sessions):]
	f.statements, places = places[:len(i.Statements)], places[len(i.Statements):]
	f.blocking, places = places[:len(i.Blocking)], places[len(i.Blocking):]
	for n := range i.Servers {
		of := len(i.Servers[n].names())
		f.servers, places = append(f.servers, places[:of:of]), places[of:]
	}
	f.replication, places = places[:len(i.Replication)], places[len(i.Replication):]
	for n := range i.Backups {
		of := len(i.Backups[n].names())
		f.looks, places = append(f.looks, places[:of:of]), places[of:]
	}
	f.room = places[:len(i.Room)]
	return f
}

// keepToLimit refuses what a limited token may not say.
func (d *Doors) keepToLimit(ctx context.Context, from intake.Caller, items Items, f found) error {
	if from.Limit == nil {
		return nil
	}
	hosts := make([]string, 0, len(items.Hosts))
	for _, h := range items.Hosts {
		hosts = append(hosts, h.Host)
	}
	claims, err := d.Places.Claims(ctx, from.OrganizationID, hosts, f.hosts)
	if err != nil {
		return err
	}
	var outside []string
	for i, claim := range claims {
		outside = append(outside, outsideOf(from.Limit, fmt.Sprintf("#/hosts/%d", i), claim)...)
	}
	forbidden := func(instance uuid.UUID) bool { return !from.Limit.Allows(instance) }
	outside = slices.Concat(outside, among("sessions", f.sessions, forbidden), among("statements", f.statements, forbidden), among("blocking", f.blocking, forbidden), among("servers", instancesOf(f.servers), forbidden), among("replication", f.replication, forbidden), among("backups", instancesOf(f.looks), forbidden), among("room", f.room, forbidden))
	if len(outside) > 0 {
		return usecase.OutsideLimit(outside)
	}
	return nil
}

// outsideOf are the members of a host by which it is beyond a limit.
func outsideOf(limit fleet.Limit, at string, claim fleet.HostClaim) (outside []string) {
	for i, id := range claim.Named {
		if !limit.Allows(id) {
			outside = append(outside, fmt.Sprintf("%s/instances/%d", at, i))
		}
	}
	switch {
	case len(outside) > 0 || limit.AllowsHost(claim):
		return outside
	case len(claim.Named) == 0:
		return []string{at + "/instances"}
	}
	return []string{at + "/host"}
}

// addEngines puts in what the samples' instances are.
func (d *Doors) addEngines(ctx context.Context, batch *measurements.Batch) error {
	of := map[uuid.UUID]fleet.Engine{}
	for _, s := range batch.Sessions {
		of[s.Instance] = ""
	}
	for _, s := range batch.Statements {
		of[s.Instance] = ""
	}
	for _, s := range batch.Servers {
		of[s.Instance] = ""
	}
	for _, s := range batch.Replication {
		of[s.Instance] = ""
	}
	of, err := d.Places.Engines(ctx, batch.Organization, slices.Collect(maps.Keys(of)))
	if err != nil {
		return err
	}
	for i := range batch.Sessions {
		batch.Sessions[i].Engine = of[batch.Sessions[i].Instance]
	}
	for i := range batch.Statements {
		batch.Statements[i].Engine = of[batch.Statements[i].Instance]
	}
	for i := range batch.Servers {
		batch.Servers[i].Engine = of[batch.Servers[i].Instance]
	}
	for i := range batch.Replication {
		batch.Replication[i].Engine = of[batch.Replication[i].Instance]
	}
	return nil
}

// addTexts puts in what may be kept of the statements' texts, which only the items have
// until then. It needs the engines.
func (d *Doors) addTexts(ctx context.Context, items []StatementItem, batch measurements.Batch) error {
	sent := slices.ContainsFunc(items, func(s StatementItem) bool {
		return slices.ContainsFunc(s.Statements, func(one DeltaItem) bool { return one.Text != nil })
	})
	if !sent {
		return nil
	}
	keeps, err := d.Texts.KeepsTexts(ctx, batch.Organization)
	if err != nil || !keeps {
		return err
	}
	for i, s := range items {
		for n, one := range s.Statements {
			if one.Text != nil {
				batch.Statements[i].Statements[n].Text = engine.Normalize(batch.Statements[i].Engine, *one.Text)
			}
		}
	}
	return nil
}

// cleanTexts leaves of the statements of blocking what may be kept.
func (d *Doors) cleanTexts(ctx context.Context, batch measurements.Batch) error {
	instances := map[uuid.UUID]bool{} // of which sessions were sent
	for _, b := range batch.Blocking {
		if len(b.Nodes) > 0 {
			instances[b.Instance] = true
		}
	}
	if len(instances) == 0 {
		return nil
	}
	keeps, err := d.Texts.KeepsTexts(ctx, batch.Organization)
	if err != nil {
		return err
	}
	engines, err := d.Places.Engines(ctx, batch.Organization, slices.Collect(maps.Keys(instances)))
	if err != nil {
		return err
	}
	for _, b := range batch.Blocking {
		for i := range b.Nodes {
			switch n := &b.Nodes[i]; {
			case blocking.Vacuums(*n): // its words are PostgreSQL's, as without texts
			case keeps:
				n.Statement = engine.Normalize(engines[b.Instance], n.Statement)
			default:
				n.Statement = ""
			}
		}
	}
	return nil
}
