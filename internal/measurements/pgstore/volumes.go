package pgstore

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/internal/measurements"
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
	rows, err := statement.All[placed](ctx, s.db, what, storedHosts, organization, hosts, names, at)
	if err != nil {
		return nil, err
	}
	volumes := make([][]measurements.Volume, len(names))
	for _, row := range rows {
		host, err := decodeHost(row.Body)
		if err != nil {
			return nil, fmt.Errorf("%s: at %s: %w", what, at[row.Place], err)
		}
		for i := range host.volumes {
			volumes[row.Place] = append(volumes[row.Place], host.volumes[i].told())
		}
	}
	return volumes, nil
}

// told is the volume as messages tell of it.
func (v *volumeBody) told() measurements.Volume {
	out := measurements.Volume{Mount: v.mount, Size: -1, Free: -1, Available: -1}
	if !math.IsNaN(v.percent) {
		out.UsedPercent = &v.percent
	}
	for i, to := range []*float64{volumeSize: &out.Size, volumeFree: &out.Free, volumeAvailable: &out.Available} {
		if !math.IsNaN(v.bytes[i]) {
			*to = v.bytes[i]
		}
	}
	return out
}
