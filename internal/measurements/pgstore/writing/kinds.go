package writing

import (
	"context"
	_ "embed" // the statement
	"sync/atomic"
	"time"

	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
)

//go:embed sql/takes_kinds.sql
var takesKinds string

// kinds are those that only newer programs know and that may be kept: each of them from the second
// step of the upgrade to it on. A program from before would fail at hours of a series whose kind it
// does not know, and roll up nothing. Figures are those of a server that came later than its kind.
type kinds struct{ Activity, Servers, Figures bool }

// every is kinds once there is nothing to wait for.
var every = kinds{true, true, true}

func (k kinds) may(kind string) bool {
	return (kind != codec.Activity || k.Activity) && (kind != codec.Servers || k.Servers)
}

// begun are the kinds that may be kept, as far as is known.
type begun struct {
	all   atomic.Bool
	some  atomic.Value // kinds
	asked atomic.Int64 // when, in nanoseconds since 1970
}

// askEvery is Writer.AskEvery.
const askEvery = 30 * time.Second

// takes says which kinds are kept.
func (w *Writer) takes(ctx context.Context) (kinds, error) {
	now := time.Now()
	if w.begun.all.Load() {
		return every, nil
	}
	if last := w.begun.asked.Load(); last > 0 && now.Sub(time.Unix(0, last)) < w.AskEvery {
		some, _ := w.begun.some.Load().(kinds)
		return some, nil
	}
	some, err := statement.One[kinds](ctx, w.ledger.DB, "ask which kinds of series are kept", takesKinds)
	if err == nil {
		w.begun.some.Store(some)
		w.begun.all.Store(some == every)
		w.begun.asked.Store(now.UnixNano())
	}
	return some, err
}
