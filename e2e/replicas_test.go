package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

const fills = "this process fills the projections"

// TestReplicas starts two processes on an empty database at once, lets both
// work, and kills the one that leads.
func TestReplicas(t *testing.T) {
	t.Parallel()
	i := installed{url: pgtest.EmptyURL(t), dir: t.TempDir()}
	args := append(i.flags(), "serve", "--listen", "127.0.0.1:0", "--rate-limits=off", "--job-lease=1s",
		"--admin-email", "ana@acme.example", "--admin-password-file", passwordFile(t))
	replicas := []*running{launch(t, nil, args...), launch(t, nil, args...)}
	for _, r := range replicas {
		r.ready(t)
	}
	if n := strings.Count(replicas[0].logged.String()+replicas[1].logged.String(), "migration applied"); n < 6 {
		t.Errorf("%d migrations were applied", n)
	}
	eventually(t, "one is elected", func() bool { return len(leaders(replicas)) > 0 })
	if n := len(leaders(replicas)); n != 1 {
		t.Fatalf("%d of 2 lead", n)
	}
	leader := leaders(replicas)[0]
	survivor := replicas[1-slices.Index(replicas, leader)]

	ana := i.as(t, leader, "ana@acme.example")
	other := client{base: survivor.base, token: ana.token}
	server := ana.paper(t, "pg-1")
	if got := other.get(t, "/api/v1/instances/"+server.String(), nil); got.status != http.StatusOK {
		t.Error("what was written through one is not seen through the other")
	}
	asked := shareWork(t, i, []client{ana, other}, server)

	leader.kill(t)
	last := other.request(t, security(server))
	if !slices.Contains(other.history(t, "Security"), last) {
		eventually(t, "the other leads and the history shows what is new", func() bool {
			return slices.Contains(other.history(t, "Security"), last)
		})
	}
	for _, id := range append(asked, last) {
		other.await(t, id, "Ready") // the killed one's reports are taken over
	}
	if len(leaders([]*running{survivor})) != 1 {
		t.Error("nothing says that the other leads now")
	}
	i.must(t, "events", "verify")
	survivor.stop(t)
}

func leaders(replicas []*running) (leading []*running) {
	for _, r := range replicas {
		if strings.Contains(r.logged.String(), fills) {
			leading = append(leading, r)
		}
	}
	return leading
}

// shareWork requests reports until both processes have built some.
func shareWork(t *testing.T, i installed, clients []client, server uuid.UUID) (asked []uuid.UUID) {
	t.Helper()
	eventually(t, "both replicas build", func() bool {
		for _, c := range clients {
			asked = append(asked, c.request(t, scorecard(server, len(asked))))
		}
		workers := make(map[any]bool)
		for _, e := range i.events(t, "--type", "report.build_started") {
			workers[e.Data["worker"]] = true
		}
		return len(workers) == len(clients)
	})
	return asked
}

// TestLongDatabaseRestarts takes the database away under requests: some fail, none
// that was answered is lost, and nobody has to restart anything. In make test a primary dies under requests
// (TestAFailoverLosesNothing).
func TestLongDatabaseRestarts(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	db := pgtest.Cluster(t, pgtest.Options{Fsync: true})
	i := installed{url: db.Superuser(), dir: t.TempDir()}
	email := i.organization(t, "Acme")
	server := servingHere(t, append(i.flags(), "--rate-limits=off", "--job-lease=1s")...)
	ana := i.as(t, server, email)
	instance := ana.paper(t, "pg-1")

	stop := make(chan struct{})
	var answered atomic.Int64
	var mu sync.Mutex
	var kept []uuid.UUID
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if id, ok := ana.tryRequest(t.Context(), scorecard(instance, n*3+w)); ok {
					answered.Add(1)
					mu.Lock()
					kept = append(kept, id)
					mu.Unlock()
				}
				time.Sleep(100 * time.Millisecond) // each report that is requested is built, too
			}
		}()
	}
	for _, outage := range []struct {
		name string
		of   func(testing.TB)
	}{{"restart", db.Restart}, {"crash", func(t testing.TB) { db.Crash(t); db.Restart(t) }}} {
		before := answered.Load()
		eventually(t, "requests are answered before the "+outage.name, func() bool { return answered.Load() > before+3 })
		outage.of(t)
	}
	before := answered.Load()
	eventually(t, "requests are answered again", func() bool { return answered.Load() > before+3 })
	close(stop)
	writers.Wait()

	eventually(t, "serve is ready again", server.isReady)
	listed := ana.history(t, "InstanceScorecard")
	for _, id := range kept {
		if !slices.Contains(listed, id) {
			t.Errorf("report %s was accepted and is not in the history", id)
		}
	}
	for _, id := range listed {
		ana.await(t, id, "Ready")
	}
	i.must(t, "events", "verify")
	server.stop(t)
}

// tryRequest asks for a report, which may fail while there is no database.
func (c client) tryRequest(ctx context.Context, w wish) (uuid.UUID, bool) {
	got, err := c.try(ctx, http.MethodPost, "/api/v1/reports", w)
	if err != nil || got.status != http.StatusAccepted {
		return uuid.Nil, false
	}
	var made struct{ Report row }
	err = json.Unmarshal(got.body, &made)
	return made.Report.ID, err == nil
}
