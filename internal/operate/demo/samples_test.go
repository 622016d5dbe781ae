package demo

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/measurements"
)

// onPaper are the servers on paper under ids made of their names.
func onPaper() []inventory.IDs {
	var paper []inventory.IDs
	for _, s := range servers() {
		of := inventory.IDs{ExternalID: s.Name, ID: onPaperID(s.Name)}
		for _, d := range s.Databases {
			of.Databases = append(of.Databases, inventory.IDs{ExternalID: d, ID: onPaperID(s.Name + "/" + d)})
		}
		paper = append(paper, of)
	}
	return paper
}

func onPaperID(words string) uuid.UUID { return uuid.NewSHA1(uuid.Nil, []byte(words)) }

var madeAt = time.Date(2026, 11, 18, 14, 23, 51, 0, time.UTC) // a Wednesday

// TestSamplesAreAFunctionOfTheMinute: drawn twice, or in another order, or cut at
// another place, they are the same to the last bit.
func TestSamplesAreAFunctionOfTheMinute(t *testing.T) {
	t.Parallel()
	from := madeAt.Truncate(time.Minute).Add(-3 * time.Hour)
	to := from.Add(2 * time.Hour)
	whole := newAgents(madeAt, onPaper()).samples(from, to, time.Minute)
	var parts measurements.Batch
	for _, cut := range [][2]time.Time{{from.Add(37 * time.Minute), to}, {from, from.Add(37 * time.Minute)}} {
		part := newAgents(madeAt, onPaper()).samples(cut[0], cut[1], time.Minute)
		parts.Hosts = append(part.Hosts, parts.Hosts...)
		parts.Servers = append(part.Servers, parts.Servers...)
		parts.Sessions = append(part.Sessions, parts.Sessions...)
		parts.Statements = append(part.Statements, parts.Statements...)
	}
	if diff := cmp.Diff(whole, parts); diff != "" {
		t.Errorf("cut in two (-whole +parts):\n%s", diff)
	}
}

// TestCoarseSamplesCountTheSame: the rest of the history is sampled less often, and
// statements have done as much all the same, wherever it was cut.
func TestCoarseSamplesCountTheSame(t *testing.T) {
	t.Parallel()
	for _, story := range []time.Duration{lockStormAt, failoverAt, madeAt.Sub(madeAt.Truncate(day)) + released.since} {
		coarseSamplesCountTheSame(t, madeAt.Truncate(day).Add(story).Truncate(time.Minute))
	}
}

func coarseSamplesCountTheSame(t *testing.T, story time.Time) {
	t.Helper()
	from, cut, to := story.Add(-8*time.Minute), story.Add(13*time.Minute), story.Add(51*time.Minute)
	a := newAgents(madeAt, onPaper())
	type sums struct {
		Calls int64
		Ms    float64
	}
	count := func(batches ...measurements.Batch) map[string]sums {
		of := map[string]sums{}
		for _, b := range batches {
			for _, s := range b.Statements {
				for _, one := range s.Statements {
					key := s.Database.String() + one.Key
					of[key] = sums{of[key].Calls + one.Calls, of[key].Ms + one.TotalMs}
				}
			}
		}
		return of
	}
	fine := count(a.samples(from, to, time.Minute))
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) })
	for name, coarser := range map[string]map[string]sums{
		"in one":       count(a.samples(from, to, coarse)),
		"in two":       count(a.samples(from, cut, coarse), a.samples(cut, to, coarse)),
		"half of each": count(a.samples(from, cut, time.Minute), a.samples(cut, to, coarse)),
	} {
		if diff := cmp.Diff(fine, coarser, near); diff != "" {
			t.Errorf("%s, %s (-fine +coarse):\n%s", story, name, diff)
		}
	}
}

// TestSamplesAreBelievable: whatever the intake refuses is in none of them, on any
// day of the history.
func TestSamplesAreBelievable(t *testing.T) {
	t.Parallel()
	a := newAgents(madeAt, onPaper())
	engines, hosts := map[fleet.Engine]bool{}, map[string]int{}
	for at := madeAt.Truncate(day).Add(-60 * day); at.Before(madeAt.Add(30 * day)); at = at.Add(7*time.Hour + 10*time.Minute) {
		b := a.samples(at, at.Add(coarse), coarse)
		for _, s := range b.Hosts {
			hosts[s.Host] = max(hosts[s.Host], len(s.Instances))
			for _, x := range append([]float64{*s.CPUPercent, *s.MemoryPercent}, useds(s)...) {
				if x < 0 || x > 100 || math.IsNaN(x) {
					t.Errorf("%s of %s: %v", s.Host, s.At, x)
				}
			}
		}
		for _, s := range b.Sessions {
			engines[s.Engine] = true
			if min(s.Active, s.Idle, s.Waiting, s.IdleInTransaction, s.Other) < 0 || s.Waits == nil || s.Active+s.Idle+s.Waiting > 300 {
				t.Errorf("%+v", s)
			}
		}
		for _, s := range b.Statements {
			keys := map[string]bool{}
			for _, one := range s.Statements {
				if keys[one.Key] || one.Calls <= 0 || one.TotalMs <= 0 || (one.MaxMs != nil) != (s.Engine == fleet.SQLServer) {
					t.Errorf("%s: %+v", s.At, one)
				}
				keys[one.Key] = true
			}
		}
	}
	if len(engines) != len(fleet.Engines()) || len(hosts) != 12 || hosts["db05"] != 2 {
		t.Errorf("engines %v, hosts %v", engines, hosts)
	}
	retired := onPaperID("demo-pg-retired-01")
	for _, s := range a.servers {
		if s.instance == retired {
			t.Error("the retired server is measured")
		}
	}
}

// TestVolumesAreAsFullAsAlertsSay: nearly full while one says so, after a while in
// which it filled, and at no other time.
func TestVolumesAreAsFullAsAlertsSay(t *testing.T) {
	t.Parallel()
	made := madeAt.Truncate(time.Minute)
	full, hosts := map[string][]episode{}, map[string]string{}
	for _, s := range servers() {
		hosts[s.Name] = s.Host
	}
	for _, e := range episodes(made, made.Add(30*day)) {
		if slices.Contains([]string{"data-volume", "volume", "binary-logs"}, e.rule) {
			full[hosts[e.server]] = append(full[hosts[e.server]], e)
		}
	}
	if len(full) < 5 {
		t.Fatalf("alerts on %d hosts tell of a volume", len(full))
	}
	a := newAgents(made, onPaper())
	for at := made.Truncate(day).Add(-35 * day); at.Before(made.Add(30 * day)); at = at.Add(110 * time.Minute) {
		for _, s := range a.samples(at, at.Add(time.Minute), time.Minute).Hosts {
			fullest := 0.0
			for _, v := range s.Volumes {
				if v.Mount != "/boot" && v.Mount != "/snap/core22/1621" && v.Mount != fullMount && v.Mount != fillingMount {
					fullest = max(fullest, *v.UsedPercent)
				}
			}
			told := slices.ContainsFunc(full[s.Host], func(e episode) bool { return !at.Before(e.starts) && at.Before(e.ends) })
			near := slices.ContainsFunc(full[s.Host], func(e episode) bool { return e.starts.After(at) && e.starts.Before(at.Add(crowds)) })
			if told && fullest < 87 || !told && !near && fullest > 85 || fullest > 95 {
				t.Errorf("%s: %s is %v %% full; an alert says so: %v", at, s.Host, fullest, told)
			}
		}
	}
}

func useds(s measurements.HostSample) []float64 {
	var of []float64
	for _, v := range s.Volumes {
		of = append(of, *v.UsedPercent)
	}
	return of
}

// TestStrainsFollowIncidents: figures and titles tell of the same time.
func TestStrainsFollowIncidents(t *testing.T) {
	t.Parallel()
	strained := 0
	for _, e := range scripted(madeAt) {
		if e.strain == (strain{}) {
			continue
		}
		strained++
		if !slices.ContainsFunc(servers(), func(s server) bool {
			return s.Name == e.server && len(s.Volumes) > 0 && (slices.Contains(s.Databases, e.database) || e.database == "" && e.strain.ofServer())
		}) {
			t.Errorf("nobody measures %s/%s, which %s strains", e.server, e.database, e.rule)
		}
	}
	full := slices.ContainsFunc(scripted(madeAt), func(e episode) bool { return e.server == fullServer && e.rule == fullRule })
	if strained < 16 || !full {
		t.Errorf("%d incidents strain a database", strained)
	}
	for _, a := range newAgents(madeAt, onPaper()).servers {
		if a.Name == fullServer && (len(a.full) != 1 || !a.full[0].ends.After(a.full[0].starts)) {
			t.Error("there is no full disk")
		}
	}
}

// TestStoriesAreMeasured: what the alerts say is to be seen in the samples.
func TestStoriesAreMeasured(t *testing.T) {
	t.Parallel()
	a, midnight := newAgents(madeAt, onPaper()), madeAt.Truncate(day)
	at := func(when time.Time) measurements.Batch { return a.samples(when, when.Add(time.Minute), time.Minute) }
	storm := midnight.Add(lockStormAt + 40*time.Minute)
	if before, then := locked(at(storm.Add(-2*time.Hour))), locked(at(storm)); before > 20 || then < 100 {
		t.Errorf("%d sessions wait for locks before the storm, %d in it", before, then)
	}
	orders := onPaperID("demo-pg-orders-01/orders")
	if before, then := of(at(storm.Add(-2*time.Hour)), orders, "update"), of(at(storm), orders, "update"); then.mean() < 10*before.mean() {
		t.Errorf("an update of orders takes %v ms in the storm, %v before", then.mean(), before.mean())
	}
	full := midnight.Add(fullDiskAt)
	for when, want := range map[time.Duration][2]float64{-12 * time.Hour: {70, 90}, -time.Hour: {93, 99.9}, 20 * time.Hour: {100, 100}, 30 * time.Hour: {55, 62}} {
		if used := usedOf(at(full.Add(when)), "win01", fullMount); used < want[0] || used > want[1] {
			t.Errorf("%s after it was full, %s is %v %% full", when, fullMount, used)
		}
	}
	for _, gap := range []struct {
		host string
		at   time.Time
	}{{"db03", midnight.Add(-6*day + 3*time.Hour)}, {"db04", madeAt.Add(-7 * time.Hour)}} {
		b := at(gap.at.Truncate(time.Minute))
		if usedOf(b, gap.host, "/") >= 0 || len(b.Hosts) < 9 || len(b.Sessions) == 0 {
			t.Errorf("%s was off at %s; %d hosts have samples", gap.host, gap.at, len(b.Hosts))
		}
	}
	if b := at(midnight.Add(-20*day + 4*time.Hour)); b.Len() != 0 {
		t.Errorf("%d samples of a time when nobody collected", b.Len())
	}
}

// TestAServerFailsOver: nothing is heard of it and its host, its pair has the sessions
// and the calls of both, and afterwards all is as it was.
func TestAServerFailsOver(t *testing.T) {
	t.Parallel()
	a := newAgents(madeAt, onPaper())
	at := func(minutes int) measurements.Batch {
		when := madeAt.Truncate(day).Add(failoverAt + time.Duration(minutes)*time.Minute)
		return a.samples(when, when.Add(time.Minute), time.Minute)
	}
	main, pair := onPaperID("demo-pg-orders-01/orders"), onPaperID("demo-pg-orders-02/orders")
	before, then, after := at(-1), at(10), at(91)
	if usedOf(then, "db01", "/") >= 0 || sessionsOf(then, main) > 0 || of(then, main, "update").Calls > 0 {
		t.Error("something is heard of a server that is gone")
	}
	if was, is := sessionsOf(before, main)+sessionsOf(before, pair), sessionsOf(then, pair); math.Abs(float64(is)/float64(was)-1) > 0.2 {
		t.Errorf("%d sessions moved to the pair, %d were there", is, was)
	}
	if was, is := of(before, pair, "update").Calls, of(then, pair, "update").Calls; is < 2*was {
		t.Errorf("%d updates a minute on the pair, %d before", is, was)
	}
	if usedOf(after, "db01", "/") < 0 || sessionsOf(after, main) == 0 || sessionsOf(after, pair) > 2*sessionsOf(before, pair) {
		t.Error("it did not come back")
	}
}

// TestAStatementIsBehindEachSpike of the last day: one that a release brought, until it
// got its index, and one whose plan turned from one minute to the next. In the hour of
// either it is the most expensive of all servers.
func TestAStatementIsBehindEachSpike(t *testing.T) {
	t.Parallel()
	for made := range oneIn(firsts(), 9) { // 45 hours apart
		a, minute := newAgents(made, onPaper()), made.Truncate(time.Minute)
		minutes := func(n, ago time.Duration) measurements.Batch {
			return a.samples(minute.Add(-ago), minute.Add(n*time.Minute-ago), n*time.Minute)
		}
		at := func(ago time.Duration) measurements.Batch { return minutes(1, ago) }
		shop, sessions := onPaperID("demo-pg-orders-01/orders"), onPaperID("demo-pg-identity-01/identity")
		release := released.since.Abs()
		if n := of(at(release+time.Minute), shop, released.key).Calls; n > 0 {
			t.Errorf("made %s: %d calls before the release", made, n)
		}
		slow, mended := of(at(release-30*time.Minute), shop, released.key), of(at(released.mended.Abs()), shop, released.key)
		if slow.mean() < 15*mended.mean() || mended.Calls == 0 {
			t.Errorf("made %s: %v ms, and %v when it had its index", made, slow.mean(), mended.mean())
		}
		turned := 3*time.Hour + 10*time.Minute
		before, then := of(at(turned+time.Minute), sessions, "list a page"), of(at(turned), sessions, "list a page")
		if ratio := then.mean() / before.mean(); ratio < 10 {
			t.Errorf("made %s: from one minute to the next it takes %v times as long", made, ratio)
		}
		if other := of(at(turned), sessions, "update").mean() / of(at(turned+time.Minute), sessions, "update").mean(); other > 2 {
			t.Errorf("made %s: an update takes %v times as long, too", made, other)
		}
		for ago, want := range map[time.Duration]string{
			release - 30*time.Minute: shop.String() + released.key, turned - 30*time.Minute: sessions.String() + "list a page", time.Hour: sessions.String() + "list a page",
		} {
			if got := dearest(minutes(30, ago)); got != want {
				t.Errorf("made %s: %s ago the dearest is %s, want %s", made, ago, got, want)
			}
		}
	}
}

// oneIn is every nth.
func oneIn(all []time.Time, n int) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for i := 0; i < len(all) && yield(all[i]); i += n {
		}
	}
}

// dearest is the statement that took the most time of all, with its database.
func dearest(b measurements.Batch) (first string) {
	took := map[string]float64{}
	for _, s := range b.Statements {
		for _, one := range s.Statements {
			key := s.Database.String() + one.Key
			if took[key] += one.TotalMs; took[key] > took[first] {
				first = key
			}
		}
	}
	return first
}

// TestServersHaveTheirDays: a shop is busier in the evening, an office on Mondays,
// and there is nothing of a server before it was there.
func TestServersHaveTheirDays(t *testing.T) {
	t.Parallel()
	sunday := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	agents := newAgents(madeAt, onPaper()).servers
	shopping, billing := agents[0].Rhythm, agents[2]
	if shopping.load(sunday.Add(19*time.Hour)) < 2*shopping.load(sunday.Add(4*time.Hour)) {
		t.Error("nobody shops in the evening")
	}
	if billing.Rhythm.load(sunday.Add(34*time.Hour)) < 4*billing.Rhythm.load(sunday.Add(10*time.Hour)) {
		t.Error("an office works on Sundays")
	}
	monday, tuesday := billing.load(sunday.Add(34*time.Hour)), billing.load(sunday.Add(58*time.Hour))
	if ratio := tuesday / monday; math.Abs(ratio-1) < 0.01 || math.Abs(ratio-1) > 0.3 {
		t.Errorf("Tuesday is %v of Monday", ratio)
	}
	for _, test := range []struct {
		age  int // days
		host string
		want bool
	}{{4, "ora02", true}, {6, "ora02", false}, {6, "ora01", true}, {55, "db04", true}} {
		when := madeAt.Truncate(day).AddDate(0, 0, -test.age).Add(12 * time.Hour)
		b := newAgents(madeAt, onPaper()).samples(when, when.Add(coarse), coarse)
		if got := usedOf(b, test.host, "/") >= 0; got != test.want {
			t.Errorf("%s %d days ago: %v", test.host, test.age, got)
		}
	}
}

// TestStatementsHaveTexts which are as they may be kept, each of three engines, and are
// told apart by their databases; and no server explains more than its sessions executed.
func TestStatementsHaveTexts(t *testing.T) {
	t.Parallel()
	minute := madeAt.Truncate(time.Minute)
	texts, coverage := map[fleet.Engine]map[string]bool{}, 0
	for at := minute.Add(-6 * time.Hour); at.Before(minute); at = at.Add(time.Hour) {
		for _, s := range newAgents(madeAt, onPaper()).samples(at, at.Add(time.Hour), time.Hour).Statements {
			explained := 0.0
			for _, one := range s.Statements {
				explained += one.TotalMs
				if normal := engine.Normalize(s.Engine, one.Text); normal != one.Text || strings.ContainsAny(one.Text, "{}") {
					t.Errorf("%s of %s is kept as\n%s, not as\n%s", one.Key, s.Engine, normal, one.Text)
				}
				if texts[s.Engine] == nil {
					texts[s.Engine] = map[string]bool{}
				}
				texts[s.Engine][one.Text] = true
			}
			if s.BusyMs != nil {
				coverage++
				if share := explained / *s.BusyMs; share < 0.85 || share > 1 {
					t.Errorf("%v of the time is explained", share)
				}
			}
		}
	}
	for engine, tables := range map[fleet.Engine]int{fleet.PostgreSQL: 6, fleet.SQLServer: 3, fleet.Oracle: 3, fleet.MySQL: 0, fleet.MongoDB: 0} {
		want := max(1, tables*len(queries)) // 1: the empty one
		if engine == fleet.PostgreSQL {
			want++ // the released one
		}
		if got := len(texts[engine]); got != want || texts[engine][""] != (tables == 0) {
			t.Errorf("%d texts of %s, want %d", got, engine, want)
		}
	}
	if coverage == 0 {
		t.Error("no server says how long it executed")
	}
}

// TestOracleIsSampledTwice in every minute that is sampled at all, as its rule wants.
func TestOracleIsSampledTwice(t *testing.T) {
	t.Parallel()
	noon := madeAt.Truncate(day).Add(12 * time.Hour)
	for _, atOnce := range []time.Duration{agentInterval, coarse} {
		seen := map[time.Time]int{}
		for _, s := range newAgents(madeAt, onPaper()).samples(noon, noon.Add(coarse), atOnce).Statements {
			if s.Engine == fleet.Oracle && len(s.Statements) > 3 {
				seen[s.At.Truncate(time.Minute)]++
			}
		}
		if len(seen) != int(coarse/atOnce) {
			t.Errorf("every %s: sampled in %d minutes", atOnce, len(seen))
		}
		for minute, n := range seen {
			if n < 2*3 { // of three databases
				t.Errorf("every %s: %d samples in %s", atOnce, n, minute)
			}
		}
	}
}

func locked(b measurements.Batch) (n int64) {
	for _, s := range b.Sessions {
		n += s.Waits[lockWait[s.Engine]]
	}
	return n
}

// ran is what a statement did, and sessionsOf who was connected, in a database.
type ran measurements.Statement

func (r ran) mean() float64 { return r.TotalMs / max(1, float64(r.Calls)) }

func of(b measurements.Batch, database uuid.UUID, key string) ran {
	for _, s := range b.Statements {
		for _, one := range s.Statements {
			if s.Database == database && one.Key == key {
				return ran(one)
			}
		}
	}
	return ran{}
}

func sessionsOf(b measurements.Batch, database uuid.UUID) (n int64) {
	for _, s := range b.Sessions {
		if s.Database == database {
			n += s.Active + s.Idle + s.Waiting + s.IdleInTransaction
		}
	}
	return n
}

// usedOf is how full a volume of a host is; -1: nobody knows.
func usedOf(b measurements.Batch, host, mount string) float64 {
	for _, s := range b.Hosts {
		for _, v := range s.Volumes {
			if s.Host == host && v.Mount == mount {
				return *v.UsedPercent
			}
		}
	}
	return -1
}

// TestSessionsHaveAnActivityAndAnOwner: each session that is active or waits is listed once, with what it does
// and whose it is.
func TestSessionsHaveAnActivityAndAnOwner(t *testing.T) {
	t.Parallel()
	storm := madeAt.Truncate(day).Add(lockStormAt)
	for _, from := range []time.Time{madeAt.Add(-time.Hour), storm.Add(10 * time.Minute)} {
		b := newAgents(madeAt, onPaper()).samples(from, from.Add(5*time.Minute), time.Minute)
		known, applications, locked := map[string]bool{}, map[string]bool{}, int64(0)
		for _, s := range b.Statements {
			for _, one := range s.Statements {
				known[one.Key] = true
			}
		}
		for _, s := range b.Sessions {
			if !slices.Contains(engine.Measured(), s.Engine) {
				continue
			}
			waits, active := map[string]int64{}, int64(0)
			for _, d := range s.Doing {
				if d.State == measurements.OnCPU {
					active += d.Sessions
				} else {
					waits[d.Wait] += d.Sessions
				}
				if d.State != measurements.Idle && !known[d.Statement] || d.User == "" || d.Client == "" {
					t.Errorf("%+v", d)
				}
				if applications[d.Application] = true; d.Event == "relation" {
					locked += d.Sessions
				}
			}
			if !maps.Equal(waits, s.Waits) || active != s.Active {
				t.Errorf("%s: %v and %d on the CPU, want %v and %d", s.Database, waits, active, s.Waits, s.Active)
			}
		}
		if len(applications) < 4 || (locked > 0) != (from.After(storm) && from.Before(storm.Add(day))) {
			t.Errorf("from %s: %v, %d wait for a relation", from, applications, locked)
		}
	}
}
