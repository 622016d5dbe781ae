package measurementstest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// figureCase is samples of what a server tells about itself, and one line that they make.
type figureCase struct {
	name  string
	given []measurements.ServerSample
	of    measurements.FigureOf
	in    timegrid.Window
	want  line
	told  []measurements.Telling
	held  []string // the sessions that held the greatest; empty: nobody is known
}

func (c figureCase) story() story {
	return story{c.name, func(t *testing.T, h Harness) {
		organization := uuid.New()
		for _, s := range c.given { // in messages of their own: in the order of their arrival
			h.write(t, measurements.Batch{Organization: organization, Servers: []measurements.ServerSample{s}})
		}
		h.roll(t)
		found, err := h.Store.ServerFigures(t.Context(), organization, pg, orders, c.in)
		if err != nil {
			t.Fatal(err)
		}
		got := found[c.of]
		if got == nil {
			got = measurements.NewFigureSeries(c.in.Len())
		}
		if !near(c.want, got.Values) || !slices.Equal(c.told, got.Told) {
			t.Errorf("%v %v, want %v %v", got.Values, got.Told, c.want, c.told)
		}
		var held []string
		for _, holder := range got.Holders {
			if holder == nil {
				held = append(held, "")
				continue
			}
			want := measurements.HolderSeen{
				Session: holder.Session, Database: shop, State: measurements.IdleInTransaction, Statement: measurements.HashStatement(shop, "q1"),
				User: measurements.NameKey{}.Hash(measurements.DimUser, "bill"), Application: measurements.NameKey{}.Hash(measurements.DimApplication, "billing"),
				Client: measurements.NameKey{}.Hash(measurements.DimClient, "10.4.1.11"),
			}
			if diff := cmp.Diff(want, *holder); diff != "" {
				t.Error(diff)
			}
			held = append(held, holder.Session)
		}
		if c.held != nil && !slices.Equal(held, c.held) {
			t.Errorf("held by %q, want %q", held, c.held)
		}
		if none, err := h.Store.ServerFigures(t.Context(), uuid.New(), pg, orders, c.in); err != nil || len(none) > 0 {
			t.Errorf("another organization has %v, %v", none, err)
		}
		if none, err := h.Store.ServerFigures(t.Context(), organization, pg, crm, c.in); err != nil || len(none) > 0 {
			t.Errorf("another instance has %v, %v", none, err)
		}
	}}
}

func figuresAt(text string, figures ...measurements.ServerFigure) measurements.ServerSample {
	return measurements.ServerSample{Instance: orders, Engine: pg, At: at(text), Figures: figures}
}

// oldest is how old the oldest transaction is, in seconds, and which session has it.
func oldest(seconds int64, session string) measurements.ServerFigure {
	f := measurements.ServerFigure{Figure: measurements.OldestTransaction, Telling: measurements.Told, Value: seconds * 1000}
	if session != "" {
		f.Holder = &measurements.Holder{Session: session, Database: shop, Doing: measurements.Doing{
			State: measurements.IdleInTransaction, Statement: "q1", User: "bill", Application: "billing", Client: "10.4.1.11",
		}}
	}
	return f
}

// wrote is how many bytes of temporary files were written in so many seconds; in the zero database by
// the whole server.
func wrote(database uuid.UUID, bytes, seconds int64) measurements.ServerFigure {
	return measurements.ServerFigure{Figure: measurements.TemporaryBytes, Database: database, Telling: measurements.Told, Value: bytes, Interval: time.Duration(seconds) * time.Second}
}

func untold(of measurements.Figure, as measurements.Telling) measurements.ServerFigure {
	return measurements.ServerFigure{Figure: of, Telling: as}
}

// figureCases: contract §33 and §34. A gap is not zero.
func figureCases() []figureCase {
	oldestOf := measurements.FigureOf{Figure: measurements.OldestTransaction}
	written := measurements.FigureOf{Figure: measurements.TemporaryBytes}
	const ok, notTold, denied = measurements.Told, measurements.NotTold, measurements.Denied
	return []figureCase{
		{
			name:  "the oldest of a bucket counts, and who held it",
			given: []measurements.ServerSample{figuresAt("10:00:10", oldest(30, "17")), figuresAt("10:00:50", oldest(70, "18")), figuresAt("10:00:55", oldest(2, "19")), figuresAt("10:02", oldest(0, ""))},
			of:    oldestOf, in: minutes("10:00", 3), want: line{70_000, gap, 0}, told: []measurements.Telling{ok, "", ok}, held: []string{"18", "", ""},
		},
		{
			name:  "the oldest of hours is the day's, whatever came later",
			given: []measurements.ServerSample{figuresAt("12:00", oldest(5, "17")), figuresAt("10:00", oldest(70, "18"))},
			of:    oldestOf, in: days("00:00", 1), want: line{70_000}, told: []measurements.Telling{ok}, held: []string{"18"},
		},
		{
			name:  "the first content of a time stays",
			given: []measurements.ServerSample{figuresAt("10:00", oldest(5, "17")), figuresAt("10:00", oldest(70, "18"))},
			of:    oldestOf, in: minutes("10:00", 1), want: line{5_000}, told: []measurements.Telling{ok}, held: []string{"17"},
		},
		{
			name:  "what happened is counted a second, over the time in which it was counted",
			given: []measurements.ServerSample{figuresAt("10:01", wrote(uuid.Nil, 600, 60)), figuresAt("10:02", wrote(uuid.Nil, 900, 30)), figuresAt("10:03", wrote(uuid.Nil, 0, 60))},
			of:    written, in: hours("10:00", 1), want: line{10}, told: []measurements.Telling{ok},
		},
		{
			name: "checkpoints are counted",
			given: []measurements.ServerSample{
				figuresAt("10:01", measurements.ServerFigure{Figure: measurements.CheckpointsTimed, Telling: measurements.Told, Value: 1, Interval: time.Minute}),
				figuresAt("10:02", measurements.ServerFigure{Figure: measurements.CheckpointsTimed, Telling: measurements.Told, Value: 2, Interval: time.Minute}),
			},
			of: measurements.FigureOf{Figure: measurements.CheckpointsTimed}, in: hours("10:00", 1), want: line{3}, told: []measurements.Telling{ok},
		},
		{
			name:  "a count without its time is nothing",
			given: []measurements.ServerSample{figuresAt("10:00", wrote(uuid.Nil, 600, 0))},
			of:    written, in: minutes("10:00", 1), want: line{gap}, told: []measurements.Telling{ok},
		},
		{
			name: "a database that is not named had none, where the server was counted",
			given: []measurements.ServerSample{
				figuresAt("10:00", wrote(uuid.Nil, 600, 60), wrote(shop, 600, 60)), figuresAt("10:01", wrote(uuid.Nil, 0, 60)), figuresAt("10:02", untold(measurements.TemporaryBytes, denied)),
			},
			of: measurements.FigureOf{Figure: measurements.TemporaryBytes, Database: shop}, in: minutes("10:00", 3), want: line{10, 0, gap}, told: []measurements.Telling{ok, ok, ""},
		},
		{
			name:  "a figure that is denied, or that the engine does not have, is a gap",
			given: []measurements.ServerSample{figuresAt("10:00", untold(measurements.OldestTransaction, denied)), figuresAt("10:01", untold(measurements.OldestTransaction, notTold))},
			of:    oldestOf, in: minutes("10:00", 3), want: line{gap, gap, gap}, told: []measurements.Telling{denied, notTold, ""},
		},
		{
			name:  "a bucket in which it was told once is told",
			given: []measurements.ServerSample{figuresAt("10:00", untold(measurements.OldestTransaction, denied)), figuresAt("10:01", oldest(3, "17"))},
			of:    oldestOf, in: hours("10:00", 1), want: line{3_000}, told: []measurements.Telling{ok}, held: []string{"17"},
		},
	}
}
