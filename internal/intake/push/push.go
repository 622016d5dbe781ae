package push

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/watch"
	"muster/internal/watch/status"
)

// Intake keeps samples and tells the watch what it judges.
type Intake struct {
	DB    *sqlx.DB // of the watch's signs
	Store Store
	// InstancesOn say what runs on the hosts whose samples name no instances; each
	// is asked for those that the ones before it do not know.
	InstancesOn []InstancesOn
	// InstancesNear says it of hosts that none of these knows, by the first label of their
	// names; nil: nothing does.
	InstancesNear InstancesOn
	Now           func() time.Time
	// MaxVolumes bounds the volumes that a batch may have the watch keep; 0: 100,000.
	MaxVolumes int

	rooms rooms
}

// Store keeps samples, and tells what it has of a volume whose sizes come apart.
type Store interface {
	measurements.Store
	// Volumes returns those of hosts[i] at times[i], as all messages together tell
	// them, at the same place. Those that never count are missing.
	Volumes(ctx context.Context, organization uuid.UUID, hosts []string, times []time.Time) ([][]measurements.Volume, error)
	// ReadOnly returns, at the place of each host, the mount points that any sample since a
	// time reports as read-only.
	ReadOnly(ctx context.Context, organization uuid.UUID, hosts []string, since time.Time) ([][]string, error)
}

// InstancesOn says which instances of an organization run on hosts. Hosts that it
// does not know are missing.
type InstancesOn func(ctx context.Context, organization uuid.UUID, hosts []string) (map[string][]uuid.UUID, error)

// Record keeps a batch, and then what follows from it: who waits for whom (package blocking),
// who follows whom (package replication), which backups there are (package backups), how much room there is
// (package room),
// observations of its instances (package status), and the signs that the watch judges, with those
// that the sender adds.
// They are no reason to lose samples: the batch is kept when they cannot be, and the
// error says so; sent again, both are tried again. An error of the batch's Guard is
// returned as it is, and then nothing is kept.
func (i *Intake) Record(ctx context.Context, b measurements.Batch, signs ...watch.Sign) (measurements.Receipt, error) {
	received := i.Now()
	for n := range b.Hosts {
		b.Hosts[n].Host = fleet.HostKey(b.Hosts[n].Host)
	}
	known, err := i.nameNear(ctx, b, received)
	if err != nil {
		return measurements.Receipt{}, err
	}
	for _, state := range b.Replication {
		if sample, ok := measurements.LagOf(state); ok {
			b.Servers = append(b.Servers[:len(b.Servers):len(b.Servers)], sample)
		}
	}
	receipt, err := i.Store.Write(ctx, b)
	if err != nil {
		return measurements.Receipt{}, err
	}
	found, err := i.collect(ctx, b, known, received)
	if err == nil {
		err = blocking.Record(ctx, i.DB, b.Organization, received, b.Blocking)
	}
	var standing []replication.Standing
	if err == nil {
		standing, err = i.follow(ctx, b, received)
	}
	if err == nil {
		err = backups.Record(ctx, i.DB, b.Organization, received, b.Backups)
	}
	if err == nil {
		err = status.Record(ctx, i.DB, received, found.observations())
	}
	if err == nil {
		signs, err = i.keepRoom(ctx, b, found, received, signs)
	}
	if err == nil {
		_, err = watch.Record(ctx, i.DB, received, slices.Concat(found.signs(), watch.Figures(b), watch.Replication(b.Organization, standing), signs))
	}
	if err != nil {
		return receipt, fmt.Errorf("the samples are kept, what the watch judges of them is not: %w", err)
	}
	return receipt, nil
}

// follow keeps who follows whom, and says how that stands.
func (i *Intake) follow(ctx context.Context, b measurements.Batch, received time.Time) ([]replication.Standing, error) {
	kept, err := replication.Record(ctx, i.DB, b.Organization, received, b.Replication)
	if err != nil {
		return nil, err
	}
	return replication.Stand(ctx, i.DB, b.Organization, kept)
}
