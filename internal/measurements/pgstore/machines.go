package pgstore

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/statement"
)

//go:embed sql/machines.sql
var machines string

// Machines returns how large the hosts in scope are, by name: what the newest of their
// samples since a time say. A host without a sample since then is missing.
func (s *Store) Machines(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, since time.Time) ([]measurements.Machine, error) {
	hosts, err := s.hostsIn(ctx, organization, scope)
	if err != nil {
		return nil, err
	}
	type sample struct {
		Host      string
		Instances int
		At        time.Time
		Body      []byte
	}
	samples, err := statement.All[sample](ctx, s.db, fmt.Sprintf("read how large %d hosts are", len(hosts)), machines, hosts.ids(), since)
	if err != nil {
		return nil, err
	}
	var all []measurements.Machine
	for _, sample := range samples {
		body, err := codec.DecodeHost(sample.Body)
		if err != nil {
			return nil, fmt.Errorf("read the sample of host %q at %s: %w", sample.Host, sample.At, err)
		}
		if n := len(all); n == 0 || all[n-1].Host != sample.Host {
			all = append(all, measurements.Machine{Host: sample.Host, At: sample.At.UTC(), Instances: sample.Instances})
		}
		m := &all[len(all)-1]
		if m.MemoryBytes == 0 && !math.IsNaN(body.Memory()) {
			m.MemoryBytes = int64(body.Memory())
		}
		if m.CPUs == 0 {
			m.CPUs = body.CPUs()
		}
	}
	return all, nil
}
