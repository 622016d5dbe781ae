package postgres

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/pause"
	"muster/internal/postgres/statement"
)

// Clock shows a process the database's time. All processes of an installation use it to decide
// what has expired, whatever the clocks of their machines show. Between two readings it follows
// the monotonic clock, which nobody can set. It is behind by at most the time of an answer, and
// never ahead: when the database records an event, its time in the process has passed.
type Clock struct {
	db   *sqlx.DB
	last atomic.Pointer[reading]
}

// reading is what the database's clock showed, and when that was.
type reading struct {
	shown time.Time // without a monotonic reading
	when  time.Time // with one
}

const (
	// readEvery is how often the database is asked. A machine that was suspended is behind
	// until then, for its monotonic clock stood still.
	readEvery = 5 * time.Second
	// readWithin is how long an answer may take. A slower one is used only if there is no
	// other.
	readWithin = 500 * time.Millisecond
	// offBy is the error of a machine's clock that is worth reporting. Nothing here uses that
	// clock, but the log's times do.
	offBy = 10 * time.Second
)

// NewClock reads the database's clock.
func NewClock(ctx context.Context, db *sqlx.DB) (*Clock, error) {
	c := &Clock{db: db}
	return c, c.read(ctx)
}

// at is what it shows at a moment of the monotonic clock.
func (r *reading) at(moment time.Time) time.Time { return r.shown.Add(moment.Sub(r.when)) }

// Now is the database's time.
func (c *Clock) Now() time.Time { return c.last.Load().at(time.Now()) }

// Keep reads the clock again and again until ctx ends, and logs when the machine's begins
// to be off. While the database is away the clock goes on.
func (c *Clock) Keep(ctx context.Context, log *slog.Logger) error {
	var told time.Duration
	return pause.Every(ctx, readEvery, func() {
		if c.read(ctx) != nil {
			return // others say that it is away
		}
		off := time.Now().Round(0).Sub(c.Now()) // by what it shows
		if off.Abs() < offBy {
			off = 0
		}
		if (off-told).Abs() < offBy && (off == 0) == (told == 0) {
			return
		}
		told = off
		if off == 0 {
			log.WarnContext(ctx, "this machine's clock agrees with the database's again")
			return
		}
		log.WarnContext(ctx, "this machine's clock is off; the database's time is used", "ahead", off.Round(time.Second))
	})
}

// read asks the database. As long as Now is within what can be told of the database's time
// it stays as it is, so that no process sees time go back for the sake of a millisecond.
func (c *Clock) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readEvery)
	defer cancel()
	began := time.Now()
	shown, err := statement.One[time.Time](ctx, c.db, "read the database's clock", `SELECT clock_timestamp()`)
	if err != nil {
		return err
	}
	when := time.Now()
	took := when.Sub(began)
	if last := c.last.Load(); last != nil {
		ahead := last.at(when).Sub(shown)
		if took > readWithin || ahead >= 0 && ahead <= took {
			return nil
		}
	}
	c.last.Store(&reading{shown: shown.UTC(), when: when})
	return nil
}
