package inspection

import (
	"errors"
	"sync"
	"time"

	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/pii"
	"muster/internal/concurrency/supervise"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// Load reads what every inspector judges by, as it is embedded. The error names every fault
// in it.
func Load() (*catalogue.Catalogue, feed.Source, *pii.Rules, error) {
	checks, err1 := catalogue.Load()
	known, err2 := feed.Load()
	rules, err3 := pii.Load()
	return checks, known, rules, errors.Join(err1, err2, err3)
}

// Assess is an assessment of a server by a look at it, which fails only where nothing at all
// could be learnt: then the assessment says why.
func Assess(now func() time.Time, target servers.Target, look func(a *snapshot.Assessment) (changes.State, error)) (snapshot.Assessment, changes.State) {
	a := begin(now())
	state, err := look(&a)
	if err != nil {
		unreachable(&a, target, err)
	}
	a.FinishedAt = now().UTC()
	return a, state
}

// visitsAtOnce is how many databases of one server are looked at at once.
const visitsAtOnce = 3

// VisitEach visits so many databases of one server, a few at a time, and combines the results
// of their checks. A database that cannot be visited says so in its results.
func VisitEach(databases int, visit func(i int) ([]snapshot.CheckResult, []snapshot.MissingGrant)) (results []snapshot.CheckResult, grants []snapshot.MissingGrant) {
	var mu sync.Mutex
	var group supervise.Group
	group.SetLimit(visitsAtOnce)
	for i := range databases {
		group.Go(func() error {
			r, g := visit(i)
			mu.Lock()
			defer mu.Unlock()
			results, grants = append(results, r...), append(grants, g...)
			return nil
		})
	}
	group.Join()
	return results, grants
}
