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
	volumes := make([][]measurements.Volume, len(names))
	err := query(ctx, s.db, func(row scanner) error {
		var place int
		var body []byte
		if err := row.Scan(&place, &body); err != nil {
			return err
		}
		host, err := decodeHost(body)
		if err != nil {
			return fmt.Errorf("at %s: %w", at[place], err)
		}
		for i := range host.volumes {
			volumes[place] = append(volumes[place], host.volumes[i].told())
		}
		return nil
	}, storedHosts, organization, hosts, names, at)
	if err != nil {
		return nil, fmt.Errorf("read the volumes of %d samples: %w", len(names), err)
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
