package postgresql

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

	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

// TestOnlyEverySecondLookReadsBlockers while they stand as they were. Another session that waits, another root
// and a sample that was not kept are asked about at once. The seconds of a look that did not ask are in the
// next sample.
func TestOnlyEverySecondLookReadsBlockers(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 0)
	home := &measuretest.Home{To: c.target()}
	var heard []string
	one := measure.New(measure.Config{
		Engine: Engine(time.Now), Instance: uuid.New(), Home: home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Open: func(ctx context.Context, to servers.Target, database string) (servers.Session, error) {
			s, err := to.Open(ctx, database, time.Minute)
			return &listening{s, &heard}, err
		},
	})
	defer one.Close(context.Background())
	round := func() string {
		t.Helper()
		heard = nil
		fails := home.Fail != nil // once
		err := one.Round(t.Context())
		if (err != nil) != fails {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(heard, func(q string) bool { return strings.Contains(q, "pg_blocking_pids(o.session)") }) {
			return "not asked"
		}
		if err != nil {
			return "lost"
		}
		for _, b := range home.Batches[len(home.Batches)-1].Blocking {
			if len(b.Nodes) > 0 {
				root := blocking.Roots(b.Nodes)[0]
				return fmt.Sprintf("%s holds up %d in %s", root.Node.Application, root.Behind, b.Interval)
			}
		}
		return "nobody"
	}
	expect := func(what string, want ...string) {
		t.Helper()
		for i, want := range want {
			if got := round(); got != want {
				t.Errorf("%s, look %d: %s, want %s", what, i, got, want)
			}
		}
	}
	longer := func(waits int) {
		c.until(fmt.Sprintf(`SELECT count(*) = %d FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '2.1 s'`, waits))
	}
	expect("nobody waits", "not asked")
	bill := c.does("billing", false, `BEGIN`, update)
	c.does("shop", true, `BEGIN`, update, `SELECT 1`)
	longer(1)
	expect("one waits", "billing holds up 1 in 10s", "billing holds up 1 in 10s", "not asked", "billing holds up 1 in 20s")
	c.does("checkout", true, update)
	longer(2)
	expect("two wait", "billing holds up 2 in 10s", "billing holds up 2 in 10s", "not asked")
	home.Fail = errors.New("our database is away")
	expect("what is due is asked, and lost", "lost")
	expect("it is asked again", "billing holds up 2 in 10s", "billing holds up 2 in 10s", "not asked", "billing holds up 2 in 20s")
	bill()
	c.until(`SELECT count(*) = 1 AND bool_and(locktype = 'transactionid') AND min(waitstart) < clock_timestamp() - interval '2.1 s' FROM pg_locks WHERE NOT granted`)
	expect("another root", "shop holds up 1 in 10s", "shop holds up 1 in 10s", "not asked")
	c.over()
	expect("nobody waits any more", "not asked")
	if b := home.Batches[len(home.Batches)-1].Blocking; len(b) != 1 || len(b[0].Nodes) != 0 {
		t.Errorf("the end is not said at once: %+v", b)
	}
}
