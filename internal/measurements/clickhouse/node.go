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
	host  string // and port
	store *Store
	conn  driver.Conn

	mu       sync.Mutex
	prepared bool
}

// node is the server of a host, the same one at every call.
func (s *Store) node(host string) (*node, error) {
	if known := s.nodes[host]; known != nil {
		return known, nil
	}
	options := &driver.Options{
		Addr:        []string{host},
		Auth:        driver.Auth{Username: s.address.User, Password: s.address.Password},
		Compression: &driver.Compression{Method: driver.CompressionLZ4},
		DialTimeout: s.limits.Dial, ReadTimeout: s.limits.Put,
		MaxOpenConns: atOnce, MaxIdleConns: atOnce / 4,
	}
	if s.address.Secure {
		options.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	conn, err := driver.Open(options)
	if err != nil {
		return nil, &AddressError{"cannot be used"} // no connection is made yet
	}
	is := &node{host: host, store: s, conn: conn}
	s.nodes[host] = is
	return is, nil
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
	rows, err := n.conn.Query(within, statement)
	if err != nil {
		return judge(ctx, n.host, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := take(rows.Scan); err != nil {
			return err
		}
	}
	return judge(ctx, n.host, rows.Err())
}

// exec runs a statement that answers nothing.
func (n *node) exec(ctx context.Context, limit time.Duration, statement string) error {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return judge(ctx, n.host, n.conn.Exec(within, statement))
}

// one is the only number that a statement answers.
func (n *node) one(ctx context.Context, statement string) (number uint64, err error) {
	err = n.query(ctx, statement, func(scan scanner) error { return scan(&number) })
	return number, err
}

// atLeast says whether the server is of a version or newer.
func (n *node) atLeast(major, minor uint64) (bool, error) {
	is, err := n.conn.ServerVersion()
	if err != nil {
		return false, judge(context.Background(), n.host, err)
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
