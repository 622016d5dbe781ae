package pgstore

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/tables"
	"muster/internal/postgres/statement"
)

//go:embed sql/named_hosts.sql
var namedHosts string

// Volumes returns those of names[i] at times[i] as all messages together tell them, at
// the same place. Those that never count are missing.
func (s *Store) Volumes(ctx context.Context, organization uuid.UUID, names []string, times []time.Time) ([][]measurements.Volume, error) {
	hosts, err := s.find(ctx, fmt.Sprintf("find %d hosts", len(names)), namedHosts, organization, names)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]subject, len(hosts))
	for _, host := range hosts {
		byName[host.Subject] = host
	}
	var ranges []blocks.Range
	var of []int
	for i, name := range names {
		if host, known := byName[name]; known {
			at := instant.Cut(times[i])
			ranges, of = append(ranges, blocks.Range{Series: host.Block(), From: at, To: at.Add(time.Microsecond)}), append(of, i)
		}
	}
	volumes := make([][]measurements.Volume, len(names))
	return volumes, s.eachBoth(ctx, blocks.Raw, ranges, func(place int, at time.Time, body []byte) error {
		host, err := codec.DecodeHost(body)
		if err != nil {
			return fmt.Errorf("the volumes of %q at %s: %w", names[of[place]], at, err)
		}
		volumes[of[place]] = host.Volumes()
		return nil
	})
}

// ReadOnly returns, at the place of each name, the mount points that one of the host's newest
// samples since a time reports as read-only.
func (s *Store) ReadOnly(ctx context.Context, organization uuid.UUID, names []string, since time.Time) ([][]string, error) {
	hosts, err := s.find(ctx, fmt.Sprintf("find %d hosts", len(names)), namedHosts, organization, names)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]string, len(hosts))
	for _, host := range hosts {
		byID[host.ID] = host.Subject
	}
	rows, err := statement.All[tables.Stored](ctx, s.db, fmt.Sprintf("read which volumes of %d hosts are read-only", len(hosts)), machines, hosts.ids(), since)
	if err != nil {
		return nil, err
	}
	mounts := map[string][]string{}
	for _, row := range rows {
		name := byID[row.Series]
		host, err := codec.DecodeHost(row.Body)
		if err != nil {
			return nil, fmt.Errorf("the volumes of %q at %s: %w", name, row.Start, err)
		}
		for _, v := range host.Volumes() {
			if v.ReadOnly && !slices.Contains(mounts[name], v.Mount) {
				mounts[name] = append(mounts[name], v.Mount)
			}
		}
	}
	found := make([][]string, len(names))
	for i, name := range names {
		found[i] = mounts[name]
	}
	return found, nil
}

// Mounted returns the mounts in the newest sample since a time of each host in scope that
// names any. A host without one is missing, and so is one whose samples of that time are
// all packed, as late ones are.
func (s *Store) Mounted(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, since time.Time) (map[string][]string, error) {
	hosts, err := s.hostsIn(ctx, organization, scope)
	if err != nil {
		return nil, err
	}
	rows, err := statement.All[tables.Stored](ctx, s.db, fmt.Sprintf("read what is mounted on %d hosts", len(hosts)), machines, hosts.ids(), since)
	if err != nil {
		return nil, err
	}
	names := make(map[int64]string, len(hosts))
	for _, host := range hosts {
		names[host.ID] = host.Subject
	}
	mounted := make(map[string][]string, len(hosts))
	for _, row := range rows { // of each host the newest first
		name := names[row.Series]
		if mounted[name] != nil {
			continue
		}
		body, err := codec.DecodeHost(row.Body)
		if err != nil {
			return nil, fmt.Errorf("the volumes of %q at %s: %w", name, row.Start, err)
		}
		for _, v := range body.Volumes() {
			mounted[name] = append(mounted[name], v.Mount)
		}
	}
	return mounted, nil
}
