package measure_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
	"muster/internal/testing/clocktest"
)

// figuring is a reader of a server that counts, with two databases.
type figuring struct {
	idle
	figures []measure.Figure
	fails   error
}

func (*figuring) Activity(context.Context, *measure.Line) (*measure.Activity, error) {
	return &measure.Activity{Databases: []measure.Database{{ID: 5, Name: "app"}, {ID: 6, Name: "crm"}}}, nil
}

func (c *figuring) Figures(context.Context, *measure.Line) ([]measure.Figure, error) {
	return c.figures, c.fails
}

// TestCountsAreDifferences of two looks at the same count of the same server: everything else is not
// known, and not zero.
func TestCountsAreDifferences(t *testing.T) {
	t.Parallel()
	written := func(database uint32, n int64, since string) measure.Figure {
		f := measure.Told(measurements.TemporaryBytes, n, nil)
		f.Database, f.Since = database, since
		return f
	}
	type look struct {
		after   time.Duration
		figures []measure.Figure
		fails   bool
		want    string // bytes of the server and of its databases, each with the seconds; empty: not known
	}
	for name, looks := range map[string][]look{
		"a first look is a basis": {{0, []measure.Figure{written(5, 100, "a"), written(6, 9, "a")}, false, ""},
			{time.Minute, []measure.Figure{written(5, 160, "a"), written(6, 9, "a")}, false, "60/60 app:60/60"},
			{time.Minute, []measure.Figure{written(5, 160, "a"), written(6, 9, "a")}, false, "0/60"}},
		"a count that was reset": {{0, []measure.Figure{written(5, 100, "a"), written(6, 9, "a")}, false, ""},
			{time.Minute, []measure.Figure{written(5, 70, "a"), written(6, 19, "a")}, false, "crm:10/60"},
			{time.Minute, []measure.Figure{written(5, 80, "a"), written(6, 19, "a")}, false, "10/60 app:10/60"}},
		"a count that was reset, and is more again": {{0, []measure.Figure{written(5, 100, "a")}, false, ""},
			{time.Minute, []measure.Figure{written(5, 170, "b")}, false, ""},
			{time.Minute, []measure.Figure{written(5, 171, "b")}, false, "1/60 app:1/60"}},
		"a database that is new": {{0, []measure.Figure{written(5, 100, "a")}, false, ""},
			{time.Minute, []measure.Figure{written(5, 100, "a"), written(6, 7, "a")}, false, "7/60 crm:7/60"}},
		"a database that is gone": {{0, []measure.Figure{written(5, 100, "a"), written(6, 7, "a")}, false, ""},
			{time.Minute, []measure.Figure{written(5, 101, "a")}, false, "1/60 app:1/60"}},
		"a database that nobody knows": {{0, []measure.Figure{written(9, 100, "a")}, false, ""},
			{time.Minute, []measure.Figure{written(9, 130, "a")}, false, "30/60"}},
		"a look that fails": {{0, []measure.Figure{written(5, 100, "a")}, false, ""},
			{time.Minute, []measure.Figure{written(5, 110, "a")}, true, ""},
			{time.Minute, []measure.Figure{written(5, 130, "a")}, false, "30/120 app:30/120"}},
		"a count that was denied": {{0, []measure.Figure{written(5, 100, "a")}, false, ""},
			{time.Minute, measure.Untold(measurements.Denied, measurements.TemporaryBytes), false, "denied"},
			{time.Minute, []measure.Figure{written(5, 130, "a")}, false, ""}},
		"a look ten minutes later": {{0, []measure.Figure{written(5, 100, "a")}, false, ""},
			{10 * time.Minute, []measure.Figure{written(5, 110, "a")}, false, "10/600 app:10/600"},
			{11 * time.Minute, []measure.Figure{written(5, 120, "a")}, false, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, reader, home := clocktest.At(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)), &figuring{}, &measuretest.Home{}
			one := measure.New(measure.Config{
				Engine: measure.Engine{Name: fleet.PostgreSQL, SessionsEvery: time.Minute, StatementsEvery: time.Minute, NewReader: func() measure.Reader { return reader }},
				Home:   home, Instance: uuid.New(), Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: clock.Now,
				Open: func(context.Context, servers.Target, string) (servers.Session, error) {
					return serverstest.New("app"), nil
				},
			})
			for i, look := range looks {
				clock.Advance(look.after)
				reader.figures, reader.fails, home.Batches = look.figures, nil, nil
				if look.fails {
					reader.fails = errors.New("not now")
				}
				if err := one.Round(t.Context()); (err != nil) != look.fails {
					t.Fatal(err)
				}
				var got []string
				for _, s := range home.Batches[0].Servers {
					for _, f := range s.Figures {
						text := fmt.Sprintf("%d/%g", f.Value, f.Interval.Seconds())
						for name, id := range home.Known {
							if f.Database == id {
								text = name + ":" + text
							}
						}
						if f.Telling != measurements.Told {
							text = string(f.Telling)
						}
						got = append(got, text)
					}
				}
				slices.Sort(got)
				if strings.Join(got, " ") != look.want {
					t.Errorf("look %d: %q, want %q", i, strings.Join(got, " "), look.want)
				}
			}
		})
	}
}
