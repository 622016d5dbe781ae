package e2e

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/skewtest"
)

// jumping is an installation with two processes whose clocks jump.
type jumping struct {
	installed
	db       *sqlx.DB
	clocks   [2]*skewtest.Clock
	replicas [2]*running
	members  [2]client
	cookie   string // of a session
	instance uuid.UUID
	asked    int
}

// TestLongAClockThatJumps by ten minutes, forth and back, in one process or the other or
// both, while one of them holds a lease: nobody takes what another holds, nothing is
// sealed early, nobody is signed out or let in who is not to be, and no request is done
// twice.
func TestLongAClockThatJumps(t *testing.T) {
	t.Parallel()
	longtest.Only(t)
	j := &jumping{installed: install(t)}
	email := j.organization(t, "Acme")
	j.db = pgtest.Connect(t, j.url)
	j.serve(t, email)

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	steps := []time.Duration{-10 * time.Minute, 0, 10 * time.Minute}
	const jumps = 20
	for range jumps {
		j.atWork(t)
		for _, c := range j.clocks {
			c.Step(steps[random.IntN(len(steps))])
		}
		j.sessions(t)
		j.keys(t)
	}
	j.clocks[0].Step(10 * time.Minute)
	j.clocks[1].Step(-10 * time.Minute)
	for _, r := range j.replicas {
		eventually(t, "the log says that the clock is off", func() bool { return strings.Contains(r.logged.String(), "this machine's clock is off") })
	}

	if ends := j.wellEnded(t); ends["Ready"] != j.asked {
		t.Errorf("of %d reports %v ended", j.asked, ends)
	}
	if again := j.events(t, "--type", "report.build_resumed"); len(again) > 0 {
		t.Errorf("%d builds were taken from who was at them", len(again))
	}
	said := j.replicas[0].logged.String() + j.replicas[1].logged.String()
	if strings.Contains(said, "was lost") {
		t.Error("a lease was lost")
	}
	if n := strings.Count(said, fills); n != 1 {
		t.Errorf("%d times somebody was elected", n)
	}
	j.seals(t)
}

// seals has a process whose clock is ahead look what is to be sealed, which it does when
// it starts.
func (j *jumping) seals(t *testing.T) {
	t.Helper()
	old, young := j.hours(t)
	j.replicas[0].stop(t)
	j.launch(t, 0)
	eventually(t, "the hour is sealed of which nothing has come for three days", func() bool { return j.sealed(t, old) })
	if j.sealed(t, young) {
		t.Error("an hour was sealed five minutes early")
	}
}

// serve starts both processes.
func (j *jumping) serve(t *testing.T, email string) {
	t.Helper()
	for n := range j.replicas {
		j.clocks[n] = skewtest.NewClock(t)
		j.launch(t, n)
		j.members[n] = j.as(t, j.replicas[n], email)
	}
	in := visitor{base: j.replicas[0].base}.must(t, http.StatusOK, http.MethodPost, "/api/v1/session", map[string]any{"email": email, "password": password})
	j.cookie = in["cookie"].(string)
	j.instance = j.members[0].paper(t, "pg-1")
}

// launch starts a process.
func (j *jumping) launch(t *testing.T, n int) {
	t.Helper()
	// Longer than the machine may be busy with other things: who loses a lease of that
	// length loses it because of the clock.
	args := append(j.flags(), "serve", "--listen", "127.0.0.1:0", "--rate-limits=off", "--job-lease=60s", "--collect-own-host=off")
	cmd := exec.Command(skewtest.Build(t), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // it does not stop with its standard input
	j.replicas[n] = start(t, cmd, []string{j.clocks[n].Env()}).ready(t)
}

// atWork requests reports until a process holds a job.
func (j *jumping) atWork(t *testing.T) {
	t.Helper()
	eventually(t, "a process is at work", func() bool {
		for n := range j.members {
			j.members[n].request(t, scorecard(j.instance, j.asked))
			j.asked++
		}
		return within(time.Second, func() bool {
			return j.replicas[0].holds(t, j.db, "build", "mail") || j.replicas[1].holds(t, j.db, "build", "mail")
		})
	})
}

// sessions are judged alike by both processes: one that goes on for five minutes more, and
// one that has ended five minutes ago.
func (j *jumping) sessions(t *testing.T) {
	t.Helper()
	for idle, want := range map[string]int{"11 hours 55 minutes": http.StatusOK, "12 hours 5 minutes": http.StatusUnauthorized} {
		for n, r := range j.replicas {
			j.db.MustExec(`UPDATE sessions SET last_seen_at = now() - $1::interval`, idle)
			if got := (visitor{base: r.base, cookie: j.cookie}).send(t, http.MethodGet, "/api/v1/instances", ""); got.status != want {
				t.Errorf("process %d answers a session that was idle for %s with %d, want %d", n, idle, got.status, want)
			}
		}
	}
}

// keys are: an answer is given again for a day, and a request that has been under way for
// twenty seconds is not taken for dead.
func (j *jumping) keys(t *testing.T) {
	t.Helper()
	body, err := json.Marshal(scorecard(j.instance, j.asked))
	if err != nil {
		t.Fatal(err)
	}
	key := map[string]string{"Idempotency-Key": uuid.NewString()}
	send := func(n int) answer {
		return visitor{base: j.replicas[n].base, token: j.members[0].token, header: key}.send(t, http.MethodPost, "/api/v1/reports", string(body))
	}
	if got := send(0); got.status != http.StatusAccepted {
		t.Fatalf("a request with a key is answered with %d %s", got.status, got.body)
	}
	j.asked++
	j.db.MustExec(`UPDATE idempotency_keys SET claimed_at = now() - interval '23 hours 55 minutes'`)
	for n := range j.replicas {
		if got := send(n); got.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("process %d answers a key of yesterday with %d %s", n, got.status, got.body)
		}
	}
	j.db.MustExec(`UPDATE idempotency_keys SET claimed_at = now() - interval '20 seconds', status = NULL, headers = NULL, body = NULL`)
	for n := range j.replicas {
		if got := send(n); got.code() != "idempotency_in_progress" {
			t.Errorf("process %d answers a request that is under way with %d %s", n, got.status, got.body)
		}
	}
	j.db.MustExec(`DELETE FROM idempotency_keys`)
}

// hours makes two hours of samples: of the one nothing has come for three days and five
// minutes, of the other for five minutes less than three days.
func (j *jumping) hours(t *testing.T) (old, young time.Time) {
	t.Helper()
	young = time.Now().UTC().Truncate(time.Hour).Add(-80 * time.Hour)
	old = young.Add(-time.Hour)
	sends := client{base: j.replicas[1].base, token: strings.TrimSpace(j.must(t, "token", "create", "--kind", "ingest", "--email", "ana@acme.example"))}
	for _, hour := range []time.Time{old, young} {
		sends.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", hostAt(hour.Add(time.Minute)), nil)
	}
	_ = j.compacting(t, `SELECT 1`)
	eventually(t, "both hours are in blocks", func() bool {
		var open int
		err := j.db.Get(&open, `SELECT count(*) FROM measured_hours WHERE hour IN ($1, $2) AND NOT compacted`, old, young)
		return err == nil && open == 0
	})
	for hour, quiet := range map[time.Time]string{old: "72 hours 5 minutes", young: "71 hours 55 minutes"} {
		j.db.MustExec(`UPDATE measured_hours SET arrived_at = now() - $2::interval WHERE hour = $1`, hour, quiet)
	}
	j.db.MustExec(`UPDATE intake_presence SET back_at = now() - interval '7 hours'`)
	return old, young
}

// sealed says whether an hour takes no samples any more.
func (j *jumping) sealed(t *testing.T, hour time.Time) bool {
	t.Helper()
	var open int
	if err := j.db.Get(&open, `SELECT count(*) FROM measured_hours WHERE hour = $1`, hour); err != nil {
		t.Fatal(err)
	}
	return open == 0
}
