package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/supervise"
	"muster/internal/measurements/blocks"
)

// Limits are the time limits of calls; zero: the defaults.
type Limits struct {
	Dial   time.Duration // 2 s to connect
	Read   time.Duration // 10 s a statement
	Put    time.Duration // 30 s an insert
	Change time.Duration // 10 min to drop what an organization has, or a partition
}

// Store keeps blocks in ClickHouse.
type Store struct {
	address Address
	ledger  *sqlx.DB
	log     *slog.Logger
	limits  Limits
	open    context.Context // until it is closed
	close   context.CancelFunc
	nodes   map[string]*node // by host; all are made while it opens
	shards  []*shard
}

var (
	_ blocks.Store  = (*Store)(nil)
	_ blocks.Summer = (*Store)(nil)
)

// Open makes the tables of the address' database, or sees that they are as they should be.
// The ledger is where revisions and the lock of migrations are: a Put takes a connection of
// it for one statement, besides that of its caller. A shard that cannot be reached now is
// looked at when it is first asked for something. The error is an *AddressError, a
// *VersionError, a *ClusterError, a *TableError, a *StatementError, or, where no server
// can be reached, a *blocks.UnavailableError.
func Open(ctx context.Context, address Address, ledger *sqlx.DB, log *slog.Logger, limits Limits) (*Store, error) {
	limits = Limits{
		cmp.Or(limits.Dial, 2*time.Second), cmp.Or(limits.Read, 10*time.Second),
		cmp.Or(limits.Put, 30*time.Second), cmp.Or(limits.Change, 10*time.Minute),
	}
	s := &Store{address: address, ledger: ledger, log: log, limits: limits, nodes: make(map[string]*node)}
	s.open, s.close = context.WithCancel(context.WithoutCancel(ctx))
	err := s.find(ctx)
	if err == nil {
		err = s.readyAll(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close closes all connections.
func (s *Store) Close() {
	s.close()
	for _, n := range s.nodes {
		_ = n.conn.Close()
	}
}

// readyAll makes all servers ready that can be reached, and fails where none can.
func (s *Store) readyAll(ctx context.Context) error {
	var away error
	reached := false
	for _, of := range s.shards {
		for _, replica := range of.replicas {
			err := replica.ready(ctx)
			switch {
			case err == nil:
				reached = true
			case unavailable(err):
				s.log.WarnContext(ctx, "a part of the measurements cannot be reached", "host", replica.host, "error", err)
				away = err
			default:
				return err
			}
		}
	}
	if !reached {
		return away
	}
	return nil
}

// Check asks each shard whether it answers, in the time that ctx has. The error is, as that
// of Open, an *blocks.UnavailableError where one does not.
func (s *Store) Check(ctx context.Context) error {
	return firstOf(s.onAll(func(of *shard) error {
		return of.any(ctx, func(n *node) error {
			_, err := n.one(ctx, "SELECT toUInt64(1)")
			return err
		})
	}))
}

// shardOf is where a series is.
func (s *Store) shardOf(organization uuid.UUID, kind, subject string) *shard {
	if len(s.shards) == 1 {
		return s.shards[0]
	}
	return shardAt(s.shards, placeOf(organization, kind, subject))
}

// onAll does something for each shard at once, and returns all that went wrong.
func (s *Store) onAll(do func(*shard) error) error {
	errs := make([]error, len(s.shards))
	var all supervise.Group
	for i, of := range s.shards {
		all.Go(func() error {
			errs[i] = do(of)
			return nil
		})
	}
	all.Join()
	return errors.Join(errs...)
}
