package falls

import (
	"context"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/postgres/statement"
)

const (
	// pace is how often a process looks at its loops.
	pace = 5 * time.Second
	// silence is after how long without a word of its process a loop is in trouble no more.
	silence = time.Minute
	// kept is for how long a fall is listed.
	kept = 24 * time.Hour
)

// Book is what a process writes of its loops, and reads of those of all.
type Book struct {
	DB      *sqlx.DB
	Loops   *supervise.Supervisor
	Process string
	Log     *slog.Logger

	written map[string]supervise.Loop // as of the last turn
}

// Run writes until ctx ends; it returns ctx's error.
func (b *Book) Run(ctx context.Context) error {
	for failing := false; ; {
		err := b.Write(ctx)
		if err != nil && ctx.Err() == nil && !failing { // once, not every time
			b.Log.WarnContext(ctx, "loops that fell are not written down", "error", err)
		}
		failing = err != nil
		if err := pause.For(ctx, pace); err != nil {
			return err
		}
	}
}

// Write writes what has changed, and what is in trouble, and forgets old falls.
func (b *Book) Write(ctx context.Context) error {
	written := map[string]supervise.Loop{}
	for _, l := range b.Loops.Loops() {
		before, known := b.written[l.Name]
		if l.Falls > 0 && (!known || before != l || l.Trouble) {
			err := statement.Exec(ctx, b.DB, "write down a loop that fell", `
				INSERT INTO loop_falls AS kept (process, loop, falls, last_at, in_trouble, seen_at)
				VALUES ($1, $2, $3, now() - make_interval(secs => $4), $5, now())
				ON CONFLICT (process, loop) DO UPDATE SET falls = excluded.falls,
					last_at = CASE WHEN kept.falls = excluded.falls THEN kept.last_at ELSE excluded.last_at END,
					in_trouble = excluded.in_trouble, seen_at = excluded.seen_at`,
				b.Process, l.Name, l.Falls, time.Since(l.Last).Seconds(), l.Trouble)
			if err != nil {
				return err
			}
			if !known {
				if err := b.forget(ctx); err != nil {
					return err
				}
			}
		}
		if l.Falls > 0 {
			written[l.Name] = l
		}
	}
	b.written = written
	return nil
}

func (b *Book) forget(ctx context.Context) error {
	return statement.Exec(ctx, b.DB, "forget loops that fell long ago",
		`DELETE FROM loop_falls WHERE last_at < now() - make_interval(secs => $1)`, kept.Seconds())
}

// Fall is a loop of a process that fell in the last 24 hours.
type Fall struct {
	Process   string
	Loop      string
	Falls     int64     // since the process began
	LastAt    time.Time `db:"last_at"`
	InTrouble bool      `db:"in_trouble"`
}

// List returns those of all processes, the ones in trouble first, then the latest first.
func (b *Book) List(ctx context.Context) ([]Fall, error) {
	return statement.All[Fall](ctx, b.DB, "read which loops fell", `
		SELECT process, loop, falls, last_at, in_trouble AND seen_at > now() - make_interval(secs => $1) AS in_trouble
		FROM loop_falls WHERE last_at > now() - make_interval(secs => $2)
		ORDER BY 5 DESC, last_at DESC, process, loop LIMIT 200`, silence.Seconds(), kept.Seconds())
}
