package listen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"muster/internal/concurrency/pause"
)

// Sessions lends a connection until do returns. Then it is closed, because a connection that
// still listens would collect notifications for its next user.
type Sessions func(ctx context.Context, do func(*pgx.Conn) error) error

// Pooled takes the connections from a pool of pgx's behind database/sql.
func Pooled(db *sql.DB) Sessions {
	return func(ctx context.Context, do func(*pgx.Conn) error) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("get a connection: %w", err)
		}
		defer func() { _ = conn.Close() }()
		return conn.Raw(func(driver any) error {
			pooled, ok := driver.(*stdlib.Conn)
			if !ok {
				return errors.New("the database is not a pgx one")
			}
			return closing(ctx, pooled.Conn(), do)
		})
	}
}

// Own opens connections of its own to the address.
func Own(url string) Sessions {
	return func(ctx context.Context, do func(*pgx.Conn) error) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		return closing(ctx, conn, do)
	}
}

// closeTimeout bounds the farewell to a server that does not answer.
const closeTimeout = time.Second

func closing(ctx context.Context, conn *pgx.Conn, do func(*pgx.Conn) error) error {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	return do(conn)
}

// Channel is what is listened to, and who hears it.
type Channel struct {
	Name     string
	Sessions Sessions
	Retry    time.Duration // between a connection that broke and the next
	// Heard gets each payload; "" each time that LISTEN becomes active, because earlier
	// notifications did not reach us.
	Heard func(payload string)
	Lost  func(err error) // is told why a connection ended; not when ctx does
}

// Listen holds one connection until ctx ends.
func (c Channel) Listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := c.Sessions(ctx, func(conn *pgx.Conn) error { return c.hear(ctx, conn) })
		if ctx.Err() == nil {
			c.Lost(err)
		}
		_ = pause.For(ctx, c.Retry)
	}
}

func (c Channel) hear(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{c.Name}.Sanitize()); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	c.Heard("")
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("wait: %w", err)
		}
		c.Heard(n.Payload)
	}
}
