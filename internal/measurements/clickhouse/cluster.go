package clickhouse

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// shard is a part of the cluster: all blocks of some series, on each of its replicas.
type shard struct {
	number   uint32 // from 1 on, as the cluster's configuration numbers them
	weight   uint32
	replicas []*node
}

// placeOf is where a series is: modulo the sum of the shards' weights, as the engine
// Distributed does it. A digest, so that hosts that are called by numbers spread, too.
func placeOf(organization uuid.UUID, kind, subject string) uint64 {
	sum := sha256.Sum256(slices.Concat(organization[:], []byte(kind), []byte{0}, []byte(subject)))
	return binary.BigEndian.Uint64(sum[:])
}

// shardAt is the shard of a place.
func shardAt(shards []*shard, place uint64) *shard {
	var total uint64
	for _, s := range shards {
		total += uint64(s.weight)
	}
	slot := place % total
	for _, s := range shards {
		if slot < uint64(s.weight) {
			return s
		}
		slot -= uint64(s.weight)
	}
	return shards[len(shards)-1] // never: slot is less than the sum of all weights
}

// layout is how a cluster is laid out, as far as it decides on which shard a block is.
func layout(shards []*shard, of *shard) string {
	weights := make([]string, len(shards))
	for i, s := range shards {
		weights[i] = fmt.Sprint(s.weight)
	}
	return fmt.Sprintf("shard %d of weights %s", of.number, strings.Join(weights, ","))
}

const selectCluster = `SELECT shard_num, shard_weight, host_name, port FROM system.clusters WHERE cluster = '%s' ORDER BY shard_num, replica_num`

// find asks the hosts of the address, one after the other, how the cluster is laid out.
func (s *Store) find(ctx context.Context) error {
	if s.address.Cluster == "" {
		alone, err := s.node(s.address.Hosts[0])
		s.shards = []*shard{{number: 1, weight: 1, replicas: []*node{alone}}}
		return err
	}
	var err error
	for _, host := range s.address.Hosts {
		var asked *node
		if asked, err = s.node(host); err != nil {
			return err
		}
		if s.shards, err = s.askForShards(ctx, asked); err == nil || !unavailable(err) {
			return err
		}
	}
	return err
}

func (s *Store) askForShards(ctx context.Context, asked *node) ([]*shard, error) {
	type row struct {
		number, weight uint32
		host           string
		port           uint16
	}
	var found []row
	err := asked.query(ctx, fmt.Sprintf(selectCluster, s.address.Cluster), func(scan scanner) error {
		var one row
		err := scan(&one.number, &one.weight, &one.host, &one.port)
		found = append(found, one)
		return err
	})
	if err != nil {
		return nil, err
	}
	refused := func(format string, args ...any) error {
		return &ClusterError{s.address.Cluster, asked.host, fmt.Sprintf(format, args...)}
	}
	if len(found) == 0 {
		return nil, refused("is not there: this server's remote_servers does not have it")
	}
	var shards []*shard
	for _, one := range found {
		host := net.JoinHostPort(one.host, strconv.Itoa(int(one.port)))
		replica, err := s.node(host)
		if err != nil {
			return nil, err
		}
		if n := len(shards); n == 0 || shards[n-1].number != one.number {
			shards = append(shards, &shard{number: one.number, weight: one.weight})
		}
		last := shards[len(shards)-1]
		last.replicas = append(last.replicas, replica)
	}
	if !slices.ContainsFunc(shards, func(s *shard) bool { return s.weight > 0 }) {
		return nil, refused("has no shard with a weight: nothing can be placed on it")
	}
	return shards, nil
}
