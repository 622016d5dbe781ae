package clickhouse

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// migrationLock is what processes that start at once wait for, in the ledger: all servers
// of ClickHouse are one after the other in it.
const migrationLock = 0x6d757374_636c6b68 // "mustclkh"

// migrations change the tables of a server, in their order. One that was applied halfway is
// applied again, because ClickHouse has no transactions: each statement must allow that.
var migrations = []func(context.Context, *Store, *node, *shard) ([]string, error){
	func(ctx context.Context, s *Store, n *node, of *shard) (all []string, err error) { // 1: the tables
		settings, err := n.durable(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			all = append(all, t.create(s.address.Database, s.engine(n, of, t), settings))
		}
		return append(all, s.distributed()...), nil
	},
	func(ctx context.Context, s *Store, n *node, of *shard) (all []string, err error) { // 2: tables of kinds that are apart
		settings, err := n.durable(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			if t.kind == "" {
				continue
			}
			together, err := tableOf(t.of, codec.Hosts, "") // where its blocks were before
			if err != nil {
				return nil, err
			}
			to, from, kind := t.local(s.address.Database), together.local(s.address.Database), quote(t.kind)
			var names []string
			for _, c := range t.columns() {
				names = append(names, c.name)
			}
			columns := strings.Join(names, ", ")
			all = append(all, t.create(s.address.Database, s.engine(n, of, t), settings),
				fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s WHERE kind = %s", to, columns, columns, from, kind),
				fmt.Sprintf("ALTER TABLE %s DELETE WHERE kind = %s", from, kind))
		}
		return append(all, s.distributed()...), nil
	},
}

// distributed are the statements that create a cluster's tables, through which a person reads
// all shards in ClickHouse. Muster asks the shards directly: a series is on one of them, so
// nothing has to be merged, and a shard that is away blocks no other. Data that is written to
// these tables goes to the place where Muster looks for it.
func (s *Store) distributed() (all []string) {
	if s.address.Cluster == "" {
		return nil
	}
	for _, t := range tables {
		all = append(all, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s AS %s ENGINE = Distributed(%s, %s, %s_local, place)",
			t.whole(s.address.Database), t.local(s.address.Database), s.address.Cluster, s.address.Database, t.name))
	}
	return all
}

// engine is that of a table on a server.
func (s *Store) engine(n *node, of *shard, t *table) string {
	if len(of.replicas) == 1 {
		return "ReplacingMergeTree(revision)"
	}
	return fmt.Sprintf("ReplicatedReplacingMergeTree('/clickhouse/muster/%s/%s/%d/%s', '%s', revision)",
		s.address.Cluster, s.address.Database, of.number, t.name, n.host)
}

// durable are the settings of a table whose server can wait for the disk: those before
// 20.10 leave that to the kernel.
func (n *node) durable(ctx context.Context) (settings string, err error) {
	can, err := n.atLeast(ctx, 20, 10)
	if can {
		settings = ", fsync_after_insert = 1, fsync_part_directory = 1"
	}
	return settings, err
}

// prepare makes a server's tables, or sees that they are as they should be.
func (s *Store) prepare(ctx context.Context, n *node) error {
	if enough, err := n.atLeast(ctx, leastMajor, leastMinor); err != nil {
		return err
	} else if !enough {
		return &VersionError{n.host, n.version()}
	}
	of := s.shardWith(n)
	within, cancel := context.WithTimeout(ctx, s.limits.Change)
	defer cancel()
	err := transact.Once(within, s.ledger, nil, func(tx *sqlx.Tx) error {
		if err := statement.Exec(within, tx, "wait to migrate ClickHouse", "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		return s.migrate(within, n, of)
	})
	if err == nil {
		err = s.check(ctx, n, of)
	}
	if err == nil && len(of.replicas) > 1 {
		err = n.catchUp(ctx)
	}
	if err == nil {
		err = s.overtake(ctx, n)
	}
	return err
}

// catchUp waits until a replica has what others got while it was taken out of the cluster.
func (n *node) catchUp(ctx context.Context) error {
	for _, t := range tables {
		if err := n.exec(ctx, n.store.limits.Change, "SYSTEM SYNC REPLICA "+t.local(n.store.address.Database)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) shardWith(n *node) *shard {
	for _, of := range s.shards {
		for _, replica := range of.replicas {
			if replica == n {
				return of
			}
		}
	}
	return nil
}

func (s *Store) migrate(ctx context.Context, n *node, of *shard) error {
	database := s.address.Database
	known, err := n.one(ctx, fmt.Sprintf("SELECT count() FROM system.databases WHERE name = '%s'", database))
	if err == nil && known == 0 {
		err = n.exec(ctx, s.limits.Put, "CREATE DATABASE IF NOT EXISTS "+database)
	}
	applied := database + ".muster_migrations"
	if err == nil {
		err = n.exec(ctx, s.limits.Put, strings.Replace(makeMigrations, "{{table}}", applied, 1))
	}
	if err != nil {
		return err
	}
	placed, last := layout(s.shards, of), uint32(0)
	err = n.query(ctx, "SELECT number, placed FROM "+applied+" ORDER BY number", func(scan scanner) error {
		var was string
		if err := scan(&last, &was); err != nil {
			return err
		}
		if was != placed {
			return &ClusterError{s.address.Cluster, n.host, "is laid out otherwise than when blocks were placed in it: this server was " + was + " and is " + placed}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if int(last) > len(migrations) {
		return &TableError{n.host, applied, fmt.Sprintf("has migration %d, and this Muster knows %d: it is older than the tables", last, len(migrations))}
	}
	for i := int(last); i < len(migrations); i++ {
		statements, err := migrations[i](ctx, s, n, of)
		if err != nil {
			return err
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO %s SELECT %d, '%s', now()", applied, i+1, placed))
		for _, one := range statements {
			if err := n.exec(ctx, s.limits.Change, one); err != nil {
				return fmt.Errorf("migration %d: %w", i+1, err)
			}
		}
		s.log.InfoContext(ctx, "ClickHouse has its tables", "host", n.host, "version", n.version(), "migration", i+1, "placed", placed)
	}
	return nil
}

const (
	selectTables  = `SELECT name, engine, partition_key, sorting_key FROM system.tables WHERE database = '%s'`
	selectColumns = `SELECT table, name, type FROM system.columns WHERE database = '%s'`
)

// check looks for changes by hand. Additional columns and tables do no harm.
func (s *Store) check(ctx context.Context, n *node, of *shard) error {
	type made struct{ engine, partition, sorting string }
	there, columns := make(map[string]made), make(map[string]string)
	err := n.query(ctx, fmt.Sprintf(selectTables, s.address.Database), func(scan scanner) error {
		var name string
		var is made
		err := scan(&name, &is.engine, &is.partition, &is.sorting)
		there[name] = is
		return err
	})
	if err == nil {
		err = n.query(ctx, fmt.Sprintf(selectColumns, s.address.Database), func(scan scanner) error {
			var table, name, kind string
			err := scan(&table, &name, &kind)
			columns[table+"."+name] = kind
			return err
		})
	}
	if err != nil {
		return err
	}
	for _, t := range tables {
		name := t.name + "_local"
		wrong := func(format string, args ...any) error {
			return &TableError{n.host, s.address.Database + "." + name, fmt.Sprintf(format, args...)}
		}
		engine, _, _ := strings.Cut(s.engine(n, of, t), "(")
		is, known := there[name]
		switch {
		case !known:
			return wrong("is not there")
		case is.engine != engine && is.engine != "Replicated"+engine: // its other replicas were taken out
			return wrong("is a %s, not a %s", is.engine, engine)
		case is.sorting != t.sorting():
			return wrong("is sorted by %s, not by %s", is.sorting, t.sorting())
		case strings.TrimPrefix(t.partition.expression(), "tuple()") != strings.TrimPrefix(is.partition, "tuple()"):
			return wrong("is partitioned by %s, not by %s", is.partition, t.partition.expression())
		}
		for _, c := range t.columns() {
			switch kind, known := columns[name+"."+c.name]; {
			case !known:
				return wrong("has no column %s", c.name)
			case kind != c.kind:
				return wrong("has a column %s that is %s, not %s", c.name, kind, c.kind)
			}
		}
	}
	return nil
}
