package watch

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/instant"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/concurrency/pause"
	"muster/internal/postgres/statement"
	"muster/internal/watch/status"
	"muster/internal/watch/uptime"
	"muster/projections"
	"muster/projections/fleet"
)

var (
	//go:embed sql/judge.sql
	judgeSigns string
	//go:embed sql/move.sql
	moveSigns string
	//go:embed sql/purge.sql
	purgeSigns string
)

const (
	// batch is how many signs are decided on and told about at once.
	batch = 1000
	// goneAfter is for how long a host has to leave out a volume for it to be gone: a file
	// system that cannot be asked for a moment is still there.
	goneAfter = 2 * time.Minute
	// kept is how long a sign that says nothing any more stays.
	kept = 24 * time.Hour
)

// Organizations answers which there are, and how they have set their rules; *accounts.Store does.
type Organizations interface {
	Organizations(ctx context.Context) ([]accounts.Organization, error)
	WatchRules(ctx context.Context) (map[uuid.UUID]accounts.WatchSettings, error)
}

// Fleet answers which servers there are; *fleet.Reader does.
type Fleet interface {
	Instances(ctx context.Context, q fleet.Query) ([]fleet.Instance, int64, error)
	// ActiveAmong returns those that are active, and not removed: instances[i] is
	// asked for in organizations[i].
	ActiveAmong(ctx context.Context, organizations, instances []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Alerts is the door that machines' alerts come through; *commands.Service is one.
type Alerts interface {
	RecordFirings(ctx context.Context, actor usecase.Actor, firings []alert.Firing) (dropped int, mark usecase.Mark, err error)
	EndFirings(ctx context.Context, limit int) (int, usecase.Mark, error)
	EndMutes(ctx context.Context, limit int) (int, usecase.Mark, error)
	CloseVanished(ctx context.Context, organization uuid.UUID, alerts []uuid.UUID) (int, usecase.Mark, error)
}

// Watch judges the signs of every organization. Any number of processes may.
type Watch struct {
	DB            *sqlx.DB
	Events        *eventstore.Store
	Organizations Organizations
	Fleet         Fleet
	Waiter        projections.Waiter // of the fleet's projection
	Alerts        Alerts
	Now           func() time.Time
	Log           *slog.Logger
	Interval      time.Duration // between judgements; zero: Interval
	// Judged is told of every judgement, Recorded of every write, so that the read
	// models look at once. Nil: nobody is told.
	Judged   func(Judgement)
	Recorded func(ctx context.Context, m usecase.Mark)

	uptime uptime.Recorder
}

// Judgement is how many breaches a judgement found to have begun and ended.
type Judgement struct{ Began, Ended map[Rule]int }

// clock is now in what PostgreSQL keeps: UTC, microseconds.
func (w *Watch) clock() time.Time { return instant.Cut(w.Now()) }

// Judge judges every sign by its organization's settings, and tells what is in
// breach and what is over. An organization that fails does not hold up the others;
// what could not be told is told by the next judgement.
func (w *Watch) Judge(ctx context.Context) (Judgement, error) {
	r := &round{
		Watch: w, now: w.clock(), found: Judgement{Began: map[Rule]int{}, Ended: map[Rule]int{}},
		settled: sync.OnceValues(func() (bool, error) { return w.fleetIsCurrent(ctx) }),
	}
	signs, err := r.read(ctx)
	if err != nil {
		return r.found, err
	}
	var errs []error
	for len(signs) > 0 {
		n := 1
		for n < min(len(signs), batch) && signs[n].OrganizationID == signs[0].OrganizationID {
			n++
		}
		if err := r.judge(ctx, signs[:n]); err != nil {
			errs = append(errs, err)
		}
		signs = signs[n:]
	}
	if err := errors.Join(errs...); err != nil {
		return r.found, err
	}
	return r.found, w.finish(ctx, r.now)
}

// End closes the alerts whose end has passed: those of a sender who says until when
// they hold and has not said so again. And it unmutes those that a person muted until
// a time that has come. What fails of the one does not hold up the other.
func (w *Watch) End(ctx context.Context) error {
	return errors.Join(
		w.sweep(ctx, "close alerts whose end has passed", w.Alerts.EndFirings),
		w.sweep(ctx, "unmute alerts whose mute is over", w.Alerts.EndMutes),
	)
}

// sweep runs end until it finds nothing more.
func (w *Watch) sweep(ctx context.Context, what string, end func(ctx context.Context, limit int) (int, usecase.Mark, error)) error {
	for {
		n, mark, err := end(ctx, batch)
		w.recorded(ctx, mark) // of some organizations, even where others failed
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if n == 0 {
			return nil
		}
	}
}

// fleetIsCurrent tells whether the read model of the fleet has everything that is in
// the log now. Where it has not, a server that is missing there may be new: a new
// version of Muster fills its tables beside the old one's.
func (w *Watch) fleetIsCurrent(ctx context.Context) (bool, error) {
	head, err := w.Events.Head(ctx, w.DB, eventstore.Fleet)
	if err != nil {
		return false, fmt.Errorf("look how far the fleet's log is: %w", err)
	}
	return w.Waiter.Wait(ctx, head.Log, head.Position, fleet.Name), nil
}

// finish notes that everything was judged, and deletes what says nothing any more.
func (w *Watch) finish(ctx context.Context, now time.Time) error {
	if err := statement.Exec(ctx, w.DB, "delete old signs", purgeSigns, now.Add(-kept)); err != nil {
		return err
	}
	if err := statement.Exec(ctx, w.DB, "delete old figures", `DELETE FROM sign_hours WHERE hour < $1`, now.Add(-pastKept)); err != nil {
		return err
	}
	return statement.Exec(ctx, w.DB, "note that the signs were judged", `UPDATE watch_state SET judged_at = greatest(judged_at, $1)`, now)
}

// SinceJudged is how long ago all signs were last judged, by any process; ok is
// false where none ever did.
func (w *Watch) SinceJudged(ctx context.Context) (age time.Duration, ok bool, err error) {
	at, err := statement.One[*time.Time](ctx, w.DB, "read when the signs were judged", `SELECT judged_at FROM watch_state`)
	if err != nil || at == nil {
		return 0, false, err
	}
	return max(0, w.clock().Sub(*at)), true, nil
}

func (w *Watch) recorded(ctx context.Context, m usecase.Mark) {
	if w.Recorded != nil && m.Position > 0 {
		w.Recorded(ctx, m)
	}
}

// actor is on whose behalf alerts of an organization are raised and resolved.
func actor(organization uuid.UUID) usecase.Actor {
	return usecase.Actor{OrganizationID: organization, Component: "watch"}
}

// Interval is how often the signs are judged, and how often a listener says that it is
// there: less than a quarter of status.Gap.
const Interval = 10 * time.Second

//go:embed sql/listen.sql
var listen string

// Run judges at once and then every Interval, closes the alerts whose end has passed
// and unmutes those whose mute is over, until ctx ends; it returns ctx's error. A failure is logged, and tried
// again at the next turn.
func (w *Watch) Run(ctx context.Context) error {
	return pause.Every(ctx, cmp.Or(w.Interval, Interval), func() {
		judgement, err := w.Judge(ctx)
		if w.Judged != nil {
			w.Judged(judgement)
		}
		if err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "the watch could not judge everything, trying again", "error", err)
		}
		if err := w.End(ctx); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "the watch could not close every alert, trying again", "error", err)
		}
	})
}

// Listen says every Interval that this process is there to hear the servers, until
// ctx ends; it returns ctx's error. Every process does that takes in samples.
func (w *Watch) Listen(ctx context.Context) error {
	return pause.Every(ctx, cmp.Or(w.Interval, Interval), func() {
		if err := w.listens(ctx); err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "the watch does not know that servers are listened to, trying again", "error", err)
		}
	})
}

func (w *Watch) listens(ctx context.Context) error {
	return statement.Exec(ctx, w.DB, "note that servers are listened to", listen, w.clock(), status.Gap.Seconds())
}
