package pgstore

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/statement"
)

//go:embed sql/stored_hosts.sql
var storedHosts string

// Volumes returns those of names[i] at times[i] as all messages together tell them, at
// the same place. Those that never count are missing.
func (s *Store) Volumes(ctx context.Context, organization uuid.UUID, names []string, times []time.Time) ([][]measurements.Volume, error) {
	at := make([]time.Time, len(times))
	for i, t := range times {
		at[i] = instant.Cut(t)
	}
	type placed struct {
		Place int
		Body  []byte
	}
	what := fmt.Sprintf("read the volumes of %d samples", len(names))
	rows, err := statement.All[placed](ctx, s.db, what, storedHosts, organization, codec.Hosts, names, at)
	if err != nil {
		return nil, err
	}
	volumes := make([][]measurements.Volume, len(names))
	for _, row := range rows {
		host, err := codec.DecodeHost(row.Body)
		if err != nil {
			return nil, fmt.Errorf("%s: at %s: %w", what, at[row.Place], err)
		}
		volumes[row.Place] = host.Volumes()
	}
	return volumes, nil
}
