package clickhouse

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// The oldest server that has what is needed here: mutations, which delete rows.
const (
	leastMajor = 18
	leastMinor = 16
)

// atOnce is how many connections a server has from one process at most.
const atOnce = 32

// node is one server.
type node struct {
	host    string // and port
	store   *Store
	conn    driver.Conn
	silence silence

	mu       sync.Mutex
	prepared bool
}

// node is the server of a host, the same one at every call.
func (s *Store) node(host string) (*node, error) {
	if known := s.nodes[host]; known != nil {
		return known, nil
	}
	is := &node{host: host, store: s}
	conn, err := driver.Open(is.options())
	if err != nil {
		return nil, &AddressError{"cannot be used"} // no connection is made yet
	}
	is.conn, s.nodes[host] = conn, is
	return is, nil
}

// options are how it is connected to.
func (n *node) options() *driver.Options {
	address, limits := n.store.address, n.store.limits
	options := &driver.Options{
		Addr:        []string{n.host},
		Auth:        driver.Auth{Username: address.User, Password: address.Password},
		Compression: &driver.Compression{Method: driver.CompressionLZ4},
		DialTimeout: limits.Dial, ReadTimeout: limits.Put,
		MaxOpenConns: atOnce, MaxIdleConns: atOnce / 4,
	}
	if address.Secure {
		options.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return options
}

// scanner reads the columns of a row.
type scanner = func(to ...any) error

// query hands the rows of a statement to take, within the time that a read has.
func (n *node) query(ctx context.Context, statement string, take func(scanner) error) error {
	return n.queryWithin(ctx, n.store.limits.Read, statement, take)
}

func (n *node) queryWithin(ctx context.Context, limit time.Duration, statement string, take func(scanner) error) error {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := n.answers(); err != nil {
		return err
	}
	rows, err := n.conn.Query(within, statement)
	if err != nil {
		return n.judge(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := take(rows.Scan); err != nil {
			return err
		}
	}
	return n.judge(ctx, rows.Err())
}

// exec runs a statement that answers nothing.
func (n *node) exec(ctx context.Context, limit time.Duration, statement string) error {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := n.answers(); err != nil {
		return err
	}
	return n.judge(ctx, n.conn.Exec(within, statement))
}

// one is the only number that a statement answers.
func (n *node) one(ctx context.Context, statement string) (number uint64, err error) {
	err = n.query(ctx, statement, func(scan scanner) error { return scan(&number) })
	return number, err
}

// atLeast says whether the server has a version or a newer one.
func (n *node) atLeast(ctx context.Context, major, minor uint64) (bool, error) {
	if err := n.answers(); err != nil {
		return false, err
	}
	is, err := n.conn.ServerVersion()
	if err != nil {
		return false, n.judge(ctx, err)
	}
	v := is.Version
	return v.Major > major || v.Major == major && v.Minor >= minor, nil
}

func (n *node) version() string {
	is, err := n.conn.ServerVersion()
	if err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%d.%d.%d", is.Version.Major, is.Version.Minor, is.Version.Patch)
}

// ready makes sure, once, that the server's tables are there and as they should be.
func (n *node) ready(ctx context.Context) error {
	if err := n.answers(); err != nil { // before somebody else's look, which may wait, is waited for
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.prepared {
		return nil
	}
	if err := n.store.prepare(ctx, n); err != nil {
		return err
	}
	n.prepared = true
	return nil
}

// any does something on the first replica that can, and returns what the last one said
// otherwise.
func (s *shard) any(ctx context.Context, do func(*node) error) (err error) {
	for _, replica := range s.replicas {
		if err = replica.ready(ctx); err == nil {
			err = do(replica)
		}
		if err == nil || !unavailable(err) {
			return err
		}
	}
	return err
}
