package pgstore

import (
	"cmp"
	"context"
	_ "embed" // the statement
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

//go:embed sql/machines.sql
var machines string

// Machines is documented at measurements.Store.
func (s *Store) Machines(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, since time.Time, most int) ([]measurements.Machine, error) {
	hosts, err := s.hostsIn(ctx, organization, scope)
	var all []measurements.Machine
	for together := range slices.Chunk(hosts, most+1) { // of a large fleet, only these are read
		found, failed := s.machinesOf(ctx, together, since)
		if all, err = append(all, found...), failed; err != nil || len(all) > most {
			break
		}
	}
	slices.SortFunc(all, func(a, b measurements.Machine) int { return cmp.Compare(a.Host, b.Host) })
	return all, err
}

// machinesOf are the machines of hosts that have a sample since a time.
func (s *Store) machinesOf(ctx context.Context, hosts subjects, since time.Time) ([]measurements.Machine, error) {
	newest := make(map[int64][]codec.Sample, len(hosts)) // the newest first
	rows, err := statement.All[tables.Stored](ctx, s.db, fmt.Sprintf("read how large %d hosts are", len(hosts)), machines, hosts.ids(), since)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		newest[row.Series] = append(newest[row.Series], codec.Sample{At: row.Start.UTC(), Body: row.Body})
	}
	var gone subjects // not heard of in the last hour
	for _, host := range hosts {
		if newest[host.ID] == nil {
			gone = append(gone, host)
		}
	}
	err = blocks.EachSample(ctx, s.ledger.Blocks, nil, gone.ranges(since, time.Now().Add(24*time.Hour)), func(place int, at time.Time, body []byte) error {
		id := gone[place].ID
		newest[id] = slices.Insert(newest[id], 0, codec.Sample{At: at, Body: slices.Clone(body)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read how large %d hosts are: %w", len(gone), err)
	}
	var all []measurements.Machine
	for _, host := range hosts {
		m, err := machineOf(newest[host.ID])
		if err != nil {
			return nil, fmt.Errorf("read the samples of host %q: %w", host.Subject, err)
		}
		if !m.At.IsZero() {
			m.Host, m.Instances = host.Subject, host.Instances
			all = append(all, m)
		}
	}
	return all, nil
}

// machineOf is what samples of a host say, the newest first. Not each has the parts that
// are looked for: an agent may send them in messages of their own.
func machineOf(samples []codec.Sample) (m measurements.Machine, err error) {
	for _, s := range samples {
		body, err := codec.DecodeHost(s.Body)
		if err != nil {
			return m, fmt.Errorf("at %s: %w", s.At, err)
		}
		if m.At.IsZero() {
			m.At = s.At
		}
		if m.MemoryBytes == 0 && !math.IsNaN(body.Memory()) {
			m.MemoryBytes = int64(body.Memory())
		}
		if m.CPUs == 0 {
			m.CPUs = body.CPUs()
		}
	}
	return m, nil
}
