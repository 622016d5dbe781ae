package projections

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// client is one client connection of a pooler in transaction mode with two server processes;
// the one that was returned last is assigned first.
type client struct {
	pooler *pooler
	server int // held by an open transaction; 0: none
}

type pooler struct{ free []int }

func (c *client) Exec(_ context.Context, sql string, _ ...any) (pgconn.CommandTag, error) {
	switch sql {
	case "BEGIN":
		c.server = c.pooler.take()
	case "ROLLBACK":
		c.pooler.free, c.server = append(c.pooler.free, c.server), 0
	}
	return pgconn.CommandTag{}, nil
}

func (p *pooler) take() int {
	last := len(p.free) - 1
	server := p.free[last]
	p.free = p.free[:last]
	return server
}

func (c *client) QueryRow(context.Context, string, ...any) pgx.Row {
	if c.server != 0 {
		return row(c.server)
	}
	server := c.pooler.take()
	c.pooler.free = append(c.pooler.free, server)
	return row(server)
}

type row int

func (r row) Scan(dest ...any) error {
	*dest[0].(*int) = int(r)
	return nil
}

func TestTransactionPoolingIsRefused(t *testing.T) {
	t.Parallel()
	p := &pooler{free: []int{11, 12}}
	if err := requireSessions(t.Context(), &client{pooler: p}, &client{pooler: p}); !errors.Is(err, ErrTransactionPooling) {
		t.Errorf("got %v, want ErrTransactionPooling", err)
	}
}
