package blocking_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/internal/measurements/blocking"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// sample is one so many seconds after noon in which sessions wait, for 20 seconds each; none:
// nobody does.
func sample(t *testing.T, instance uuid.UUID, seconds int, lines ...string) blocking.Sample {
	t.Helper()
	s := blocking.Sample{Instance: instance, At: noon.Add(time.Duration(seconds) * time.Second), Interval: 10 * time.Second, Nodes: nodes(t, lines...)}
	for i := range s.Nodes {
		if s.Nodes[i].Waits != nil {
			since := s.At.Add(-20 * time.Second)
			s.Nodes[i].Waits = &since
		}
	}
	return s
}

// pile is a sample in which so many sessions wait for one.
func pile(t *testing.T, instance uuid.UUID, seconds, waiting int, root string) blocking.Sample {
	lines := []string{root}
	for n := range waiting {
		lines = append(lines, fmt.Sprintf("w%d<-%s:20", n, root))
	}
	if waiting == 0 {
		lines = nil
	}
	s := sample(t, instance, seconds, lines...)
	s.End = append(blocking.Ends(), "")[seconds/60&3] // kept of samples in which nobody waits only
	return s
}

func record(t *testing.T, db *sqlx.DB, organization uuid.UUID, samples ...blocking.Sample) {
	t.Helper()
	if err := blocking.Record(t.Context(), db, organization, noon.Add(48*time.Hour), samples); err != nil {
		t.Fatal(err)
	}
}

func episodes(t testing.TB, db *sqlx.DB, organization, instance uuid.UUID) []blocking.Episode {
	t.Helper()
	got, total, err := blocking.Episodes(t.Context(), db, blocking.Query{
		Organization: organization, Scope: fleet.Scope{Filtered: true, Instances: []uuid.UUID{instance}}, From: noon.Add(-1000 * time.Hour), To: noon.Add(1000 * time.Hour), Page: 1, Size: 1000,
	})
	if err != nil || int(total) != len(got) {
		t.Fatal(total, len(got), err)
	}
	slices.Reverse(got)
	return got
}

// told writes an episode: its times in seconds after noon, how many waited at most, for how many
// session-seconds, and behind whom.
func told(e blocking.Episode) string {
	to := "?"
	if e.Ended != nil {
		to = fmt.Sprint(int(e.Ended.Sub(noon).Seconds()))
	}
	if e.End != nil {
		to += string(*e.End)
	}
	return fmt.Sprintf("%d-%d-%s max %d of %g at %s", int(e.First.Sub(noon).Seconds()), int(e.Last.Sub(noon).Seconds()), to, e.Waiting, e.Seconds, e.Held.Root.Session)
}

// model makes episodes of samples, whatever order they came in. Of two of one time the first that
// came counts. An episode goes on while the next sample follows within five minutes, and ends
// with the first one in which nobody waits.
func model(came []blocking.Sample) (out []string) {
	byTime := map[int]blocking.Sample{}
	var times []int
	for _, s := range came {
		at := int(s.At.Sub(noon).Seconds())
		if _, known := byTime[at]; !known {
			byTime[at], times = s, append(times, at)
		}
	}
	slices.Sort(times)
	for i := 0; i < len(times); {
		if len(byTime[times[i]].Nodes) == 0 {
			i++
			continue
		}
		first, most, sum, root := times[i], 0, 0, ""
		last, ended := 0, "?"
		for ; i < len(times); i++ {
			s := byTime[times[i]]
			if times[i] != first && times[i]-last > 300 {
				break
			}
			if len(s.Nodes) == 0 {
				ended = fmt.Sprint(times[i]) + string(s.End)
				break
			}
			last = times[i]
			waiting := len(s.Nodes) - 1
			sum += 10 * waiting
			if waiting > most {
				most, root = waiting, s.Nodes[0].Session
			}
		}
		out = append(out, fmt.Sprintf("%d-%d-%s max %d of %d at %s", first, last, ended, most, sum, root))
	}
	return out
}

// TestEpisodesFollowFromTheSamples, in whatever order these come and however often: late ones
// continue, join, part and end episodes as they would have in time.
func TestEpisodesFollowFromTheSamples(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	rapid.Check(t, func(r *rapid.T) {
		organization, instance := uuid.New(), uuid.New()
		var came []blocking.Sample
		for range rapid.IntRange(1, 25).Draw(r, "samples") {
			at := rapid.IntRange(0, 40).Draw(r, "at") * 60
			waiting := rapid.IntRange(0, 3).Draw(r, "waiting")
			came = append(came, pile(t, instance, at, waiting, rapid.SampledFrom([]string{"1", "2"}).Draw(r, "root")))
		}
		if rapid.Bool().Draw(r, "in order") {
			slices.SortStableFunc(came, func(a, b blocking.Sample) int { return a.At.Compare(b.At) })
		}
		for len(came) > 0 && rapid.Bool().Draw(r, "again") {
			came = append(came, came[rapid.IntRange(0, len(came)-1).Draw(r, "which")])
		}
		for _, s := range came {
			record(t, db, organization, s)
		}
		var got []string
		for _, e := range episodes(t, db, organization, instance) {
			got = append(got, told(e))
		}
		if want := model(came); !slices.Equal(got, want) {
			r.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestAnEpisodeKeepsItsID while late samples change it, so that links to it go on leading there.
func TestAnEpisodeKeepsItsID(t *testing.T) {
	t.Parallel()
	db, organization, instance := pgtest.DB(t), uuid.New(), uuid.New()
	record(t, db, organization, pile(t, instance, 0, 1, "1"), pile(t, instance, 10, 1, "1"), pile(t, instance, 40, 0, ""))
	before := episodes(t, db, organization, instance)[0].ID
	for _, late := range []blocking.Sample{pile(t, instance, 20, 2, "1"), pile(t, instance, 30, 0, ""), pile(t, instance, -60, 1, "1"), pile(t, instance, 35, 1, "2")} {
		record(t, db, organization, late)
	}
	after := episodes(t, db, organization, instance)
	if len(after) != 2 || after[0].ID != before || told(after[0]) != "-60-20-30transactionEnded max 2 of 50 at 1" || told(after[1]) != "35-35-40transactionEnded max 1 of 10 at 2" {
		t.Errorf("%+v", after)
	}
	// Another organization knows nothing of it.
	if _, ok, err := blocking.Find(t.Context(), db, uuid.New(), before); ok || err != nil {
		t.Errorf("found: %t, %v", ok, err)
	}
	if _, ok, err := blocking.Find(t.Context(), db, organization, before); !ok || err != nil {
		t.Errorf("found: %t, %v", ok, err)
	}
}

// TestClassesAndServersAreKeptApart: a standby that waits for an advisory lock for weeks hides nothing.
func TestClassesAndServersAreKeptApart(t *testing.T) {
	t.Parallel()
	db, organization, a, b := pgtest.DB(t), uuid.New(), uuid.New(), uuid.New()
	advisory := pile(t, a, 0, 1, "7")
	advisory.Advisory = true
	record(t, db, organization, advisory, pile(t, a, 5, 2, "1"), pile(t, a, 15, 0, ""), pile(t, b, 5, 1, "1"))
	of := episodes(t, db, organization, a)
	if len(of) != 2 || !of[0].Advisory || of[0].Ended != nil || of[1].Advisory || of[1].Ended == nil {
		t.Errorf("%+v", of)
	}
	if of := episodes(t, db, organization, b); len(of) != 1 || of[0].Ended != nil {
		t.Errorf("%+v", of)
	}
}

// TestAnUnseenEndIsTheLastSample, five minutes later.
func TestAnUnseenEndIsTheLastSample(t *testing.T) {
	t.Parallel()
	e := blocking.Episode{First: noon, Last: noon.Add(time.Minute)}
	if to := e.To(noon.Add(6 * time.Minute)); to != nil {
		t.Errorf("it lasts: %v", to)
	}
	if to := e.To(noon.Add(6*time.Minute + time.Second)); to == nil || !to.Equal(e.Last) || e.Seen() {
		t.Errorf("nobody looked any more: %v", to)
	}
}

// TestTreesAreKeptFullyForTenMinutes and then one a minute, and one wherever more sessions wait.
func TestTreesAreKeptFullyForTenMinutes(t *testing.T) {
	t.Parallel()
	db, organization, instance := pgtest.DB(t), uuid.New(), uuid.New()
	for at := 0; at < 20*60; at += 10 {
		waiting := 2
		if at == 15*60+30 {
			waiting = 3
		}
		record(t, db, organization, pile(t, instance, at, waiting, "1"))
	}
	e := episodes(t, db, organization, instance)[0]
	moments, err := blocking.Moments(t.Context(), db, organization, e)
	if err != nil || len(moments) != 120 {
		t.Fatal(len(moments), err)
	}
	kept := 0
	for _, m := range moments {
		if m.Tree {
			kept++
		}
		if m.Root.Root.Session != "1" {
			t.Errorf("%+v", m)
		}
	}
	if kept != 61+9+1 { // the first ten minutes, one a minute, the most
		t.Errorf("%d trees", kept)
	}
	for asked, want := range map[int]int{0: 0, 15: 10, 15*60 + 35: 15*60 + 30, 15*60 + 25: 15 * 60, -50: 0, 99999: 19 * 60} {
		tree, of, ok, err := blocking.TreeAt(t.Context(), db, organization, e, noon.Add(time.Duration(asked)*time.Second))
		if err != nil || !ok || len(tree.Nodes) < 3 || int(of.Sub(noon).Seconds()) != want {
			t.Errorf("at %d: the tree of %v, %t, %v", asked, of.Sub(noon), ok, err)
		}
	}
}

// TestOldTreesAndEpisodesAreForgotten: trees after 72 hours, episodes after 400 days. The figures that an
// episode has from forgotten samples stay, also where a late sample changes it.
func TestOldTreesAndEpisodesAreForgotten(t *testing.T) {
	t.Parallel()
	db, organization, instance := pgtest.DB(t), uuid.New(), uuid.New()
	base := time.Now().Add(-blocking.SamplesKept - 30*time.Second)
	put := func(seconds, waiting int) {
		t.Helper()
		s := pile(t, instance, seconds, waiting, "1")
		shift := base.Sub(noon)
		s.At = s.At.Add(shift)
		for i := range s.Nodes {
			if s.Nodes[i].Waits != nil {
				since := s.Nodes[i].Waits.Add(shift)
				s.Nodes[i].Waits = &since
			}
		}
		if err := blocking.Record(t.Context(), db, organization, base.Add(time.Hour), []blocking.Sample{s}); err != nil {
			t.Fatal(err)
		}
	}
	for at, waiting := range map[int]int{0: 3, 60: 2, 120: 2, 240: 1} {
		put(at, waiting)
	}
	counts := func() (samples, of int) {
		t.Helper()
		if err := blocking.Forget(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRowx(`SELECT (SELECT count(*) FROM blocking_samples), (SELECT count(*) FROM blocking_episodes)`).Scan(&samples, &of); err != nil {
			t.Fatal(err)
		}
		return samples, of
	}
	if samples, of := counts(); samples != 3 || of != 1 {
		t.Fatalf("%d samples and %d episodes are left", samples, of)
	}
	put(180, 0) // which parts it
	after := episodes(t, db, organization, instance)
	if len(after) != 2 || after[0].Waiting != 3 || after[0].Seconds != 70 || after[0].First.Sub(base).Abs() > time.Millisecond || after[0].Ended == nil || after[1].Seconds != 10 {
		t.Errorf("%+v", after)
	}
	db.MustExec(`UPDATE blocking_episodes SET first_at = first_at - interval '401 days', last_at = last_at - interval '401 days', ended_at = ended_at - interval '401 days' WHERE waiting = 3`)
	if _, of := counts(); of != 1 {
		t.Errorf("%d episodes are left", of)
	}
	// What is too old, or of the future, is not taken.
	for _, at := range []time.Time{noon.Add(-blocking.SamplesKept - time.Second), noon.Add(6 * time.Minute)} {
		other := uuid.New()
		s := pile(t, other, 0, 1, "1")
		s.At = at
		if err := blocking.Record(t.Context(), db, organization, noon, []blocking.Sample{s}); err != nil || len(episodes(t, db, organization, other)) != 0 {
			t.Errorf("%v: %v", at, err)
		}
	}
}

// TestTheTreesOfAnEpisode come with it: all, or where they are too large the first, the greatest, the last and some
// of those between.
func TestTheTreesOfAnEpisode(t *testing.T) {
	t.Parallel()
	db, organization, instance := pgtest.DB(t), uuid.New(), uuid.New()
	trees := func() (blocking.Episode, []blocking.Moment, map[time.Time]blocking.Tree) {
		t.Helper()
		e := episodes(t, db, organization, instance)[0]
		moments, err := blocking.Moments(t.Context(), db, organization, e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := blocking.Trees(t.Context(), db, organization, e, moments)
		if err != nil {
			t.Fatal(err)
		}
		return e, moments, got
	}
	for at := 0; at < 60; at += 10 {
		record(t, db, organization, pile(t, instance, at, at/10+1, "1"))
	}
	_, moments, got := trees()
	if len(got) != 6 {
		t.Fatalf("%d of %d trees", len(got), len(moments))
	}
	for i, m := range moments {
		if n := len(got[m.At.UTC()].Nodes); n != i+2 {
			t.Errorf("the tree at %v has %d sessions", m.At, n)
		}
	}
	for at := 60; at < 300; at += 10 {
		waiting := 499
		if at == 110 {
			waiting = 520 // of which 499 are kept
		}
		record(t, db, organization, pile(t, instance, at, waiting, "1"))
	}
	e, moments, got := trees()
	sessions := 0
	for _, tree := range got {
		sessions += len(tree.Nodes)
	}
	_, first := got[e.First.UTC()]
	_, peak := got[e.Peak.UTC()]
	_, last := got[e.Last.UTC()]
	if e.Waiting != 520 || len(moments) != 30 || sessions > blocking.MaxTreeSessions+2*blocking.MaxNodes || len(got) < 10 || !first || !peak || !last {
		t.Errorf("%d trees with %d sessions; the first %t, the greatest %t, the last %t", len(got), sessions, first, peak, last)
	}
}

// TestTextsGoWhenTheyAreTurnedOff, of samples and of episodes. The words of autovacuum are none.
func TestTextsGoWhenTheyAreTurnedOff(t *testing.T) {
	t.Parallel()
	db, organization, other, instance := pgtest.DB(t), uuid.New(), uuid.New(), uuid.New()
	said := func(kind blocking.Kind, text string, at int) blocking.Sample {
		s := pile(t, instance, at, 2, "1")
		s.Nodes[0].Kind, s.Nodes[0].Statement, s.Nodes[1].Statement = kind, text, "SELECT one"
		return s
	}
	const vacuum = "autovacuum: VACUUM public.orders"
	for _, of := range []uuid.UUID{organization, other} {
		record(t, db, of, said(blocking.Client, "UPDATE secret", 0), pile(t, instance, 10, 0, ""), said(blocking.Autovacuum, vacuum, 20))
	}
	tx := db.MustBegin()
	if err := blocking.DropTexts(t.Context(), tx, organization); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	texts := func(of uuid.UUID) (out []string) {
		for _, e := range episodes(t, db, of, instance) {
			tree, _, ok, err := blocking.TreeAt(t.Context(), db, of, e, e.First)
			if err != nil || !ok || len(tree.Nodes) != 3 {
				t.Fatal(tree, ok, err)
			}
			moments, err := blocking.Moments(t.Context(), db, of, e)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, e.Held.Root.Statement, tree.Nodes[0].Statement, tree.Nodes[1].Statement, moments[0].Root.Root.Statement)
		}
		return out
	}
	if got := texts(organization); !slices.Equal(got, []string{"", "", "", "", vacuum, vacuum, "", vacuum}) {
		t.Errorf("%q are left", got)
	}
	if got := texts(other); got[0] != "UPDATE secret" || got[2] != "SELECT one" {
		t.Errorf("of another organization %q", got)
	}
}

// TestTwoSessionsOfOneIDAreTwoRoots: they differ in when they began, in the samples of one episode and in the trees.
func TestTwoSessionsOfOneIDAreTwoRoots(t *testing.T) {
	t.Parallel()
	db, organization, instance := pgtest.DB(t), uuid.New(), uuid.New()
	began := func(s blocking.Sample, minutes int) blocking.Sample {
		at := noon.Add(-time.Duration(minutes) * time.Minute)
		s.Nodes[0].Began = &at
		return s
	}
	record(t, db, organization, began(pile(t, instance, 0, 1, "7"), 60), began(pile(t, instance, 10, 2, "7"), 1), pile(t, instance, 20, 0, ""))
	of := episodes(t, db, organization, instance)
	if len(of) != 1 {
		t.Fatalf("%d episodes", len(of))
	}
	moments, err := blocking.Moments(t.Context(), db, organization, of[0])
	if err != nil || len(moments) != 2 || moments[0].Root.Root.Session != moments[1].Root.Root.Session ||
		!moments[0].Root.Root.Began.Equal(noon.Add(-time.Hour)) || !moments[1].Root.Root.Began.Equal(noon.Add(-time.Minute)) || !of[0].Held.Root.Began.Equal(noon.Add(-time.Minute)) {
		t.Errorf("%+v, %v", moments, err)
	}
}

// TestTwoSimultaneousRootsAreOneEpisode, which names the one that most wait behind and counts both; the tree
// has both.
func TestTwoSimultaneousRootsAreOneEpisode(t *testing.T) {
	t.Parallel()
	db, organization, instance := pgtest.DB(t), uuid.New(), uuid.New()
	record(t, db, organization, sample(t, instance, 0, "1", "9", "2<-1:20", "8<-9:20", "7<-9:20"), sample(t, instance, 10, "1", "2<-1:20"), pile(t, instance, 20, 0, ""))
	of := episodes(t, db, organization, instance)
	if len(of) != 1 || of[0].Held.Root.Session != "9" || of[0].Held.Roots != 2 || of[0].Held.Behind != 2 || of[0].Waiting != 3 {
		t.Fatalf("%+v", of)
	}
	tree, _, ok, err := blocking.TreeAt(t.Context(), db, organization, of[0], of[0].First)
	if roots := blocking.Roots(tree.Nodes); err != nil || !ok || len(roots) != 2 || roots[0].Node.Session != "9" || roots[1].Node.Session != "1" {
		t.Errorf("%+v, %v", roots, err)
	}
}
