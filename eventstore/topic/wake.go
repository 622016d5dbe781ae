package topic

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/listen"
)

// channel is where processes tell each other that a log has grown.
const channel = "muster_wake"

// Announce wakes the subject's waiters in the other processes. It runs outside
// the appending transaction on purpose: package eventstore says why.
func Announce(ctx context.Context, db sqlx.ExecerContext, subject string) error {
	if _, err := db.ExecContext(ctx, `SELECT pg_notify($1, $2)`, channel, subject); err != nil {
		return fmt.Errorf("announce %s: %w", subject, err)
	}
	return nil
}

// Listen raises wake for every announcement of another process until ctx ends. It
// holds one connection of its own.
func Listen(ctx context.Context, url string, wake *listen.Wake, log *slog.Logger) {
	listen.Channel{
		Name: channel, Sessions: listen.Own(url), Retry: SafetyPoll, Heard: wake.Raise,
		Lost: func(err error) {
			log.WarnContext(ctx, "listening for other processes' appends is interrupted", "error", err)
		},
	}.Listen(ctx)
}
