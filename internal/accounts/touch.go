package accounts

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	touchEvery = time.Minute // how often the use of a token or session is written down
	// touchPatience bounds the wait for that, which every request has once a minute, reads
	// too: they go on without it.
	touchPatience = time.Second
	// touchPause is the time in which no request tries again then.
	touchPause = 10 * time.Second
)

// touch writes down that a token or session is used. It returns nil also where the
// database takes no writes, or does not commit in time.
func (s *Store) touch(ctx context.Context, write func(ctx context.Context) error) error {
	if time.Now().UnixNano() < s.touchAgain.Load() {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, touchPatience)
	defer cancel()
	err := write(bounded)
	if err == nil || ctx.Err() != nil || bounded.Err() == nil && !takesNoWrites(err) {
		return err
	}
	s.touchAgain.Store(time.Now().Add(touchPause).UnixNano())
	return nil
}

// takesNoWrites recognizes a database that may still be read: it has no room (SQLSTATE
// class 53), cannot write (class 58) or must not (25006), or others hold the row (55P03).
func takesNoWrites(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && (strings.HasPrefix(server.Code, "53") || strings.HasPrefix(server.Code, "58") ||
		server.Code == "25006" || server.Code == "55P03")
}
