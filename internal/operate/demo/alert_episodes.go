package demo

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"muster/commands/alerting"
	"muster/domain/alert"
	"muster/domain/instant"
)

// alertSeed makes the demo's alerts what they are.
const alertSeed = 4

// alertDays is how long before the organization was made its alerts start.
const alertDays = 30

// episode is one alert of the demo from beginning to end, which may be still to come.
type episode struct {
	key              string // external id
	server, database string // empty: of the organization, of the server
	rule             string
	title            string
	severity         alert.Severity
	between
	byPerson bool // who closes it
	strain   strain
}

// episodes are the alerts of an organization made at that time that have
// started by now, in the order in which they started: a pure function of both,
// in which a later now changes nothing that was and adds what came since.
func episodes(made, now time.Time) []episode {
	made = made.UTC().Truncate(time.Minute)
	all := append(scripted(made), drawn(made, now.UTC())...)
	first := made.AddDate(0, 0, -alertDays)
	all = slices.DeleteFunc(all, func(e episode) bool { return e.starts.Before(first) || e.starts.After(now) })
	slices.SortFunc(all, func(a, b episode) int { return cmp.Or(a.starts.Compare(b.starts), strings.Compare(a.key, b.key)) })
	return all
}

// scripted are the stories.
func scripted(made time.Time) []episode {
	midnight := made.Truncate(day)
	var all []episode
	for _, story := range []struct {
		at        time.Time
		incidents []incident
	}{
		{midnight.Add(fullDiskAt), stories()["full-disk"]}, {midnight.Add(lockStormAt), stories()["lock-storm"]},
		{midnight.Add(flappingAt), flapping()}, {midnight.Add(failoverAt), stories()["failover"]},
		{made, stories()["release"]}, {made, stories()["turned-plan"]}, {made, stories()["ongoing"]},
	} {
		for _, in := range story.incidents {
			e := newEpisode(in.Server, in.Database, rule{ID: in.Rule, Title: in.Title, Severity: in.Severity}, story.at.Add(in.From), in.Lasts)
			e.strain = in.Strain
			all = append(all, e)
		}
	}
	return all
}

// drawn are what the rules raise of themselves.
func drawn(made, now time.Time) []episode {
	var all []episode
	first := made.AddDate(0, 0, -alertDays)
	for _, r := range rules()[ofNoServer] {
		all = append(all, r.raise("", "", first, now)...)
	}
	midnight := made.Truncate(day)
	for _, s := range servers() {
		// Nothing watches a server before it is there with its databases, nor one that
		// is retired.
		if s.Inactive {
			continue
		}
		since := instant.Later(first, midnight.AddDate(0, 0, -s.Days).Add(9*time.Hour))
		for _, r := range rules()[s.Engine] {
			if !r.Database {
				all = append(all, r.raise(s.Name, "", since, now)...)
				continue
			}
			for _, database := range s.Databases {
				all = append(all, r.raise(s.Name, database, since, now)...)
			}
		}
	}
	return all
}

// raise draws the alerts of one subject that start between two times. Time is cut
// into slots of one day or four, the same for everybody, and at most one alert starts
// in a slot and ends in it: so each is a function of its subject and its slot alone.
func (r rule) raise(server, database string, since, until time.Time) []episode {
	width := 1
	if r.Hours == lasting {
		width = 4
	}
	slot := time.Duration(width) * day
	var all []episode
	for at := since.Truncate(slot); !at.After(until); at = at.Add(slot) {
		random := rand.New(rand.NewPCG(alertSeed, hash(server, database, r.ID, at.Format(time.DateOnly))))
		chance := r.PerMonth * float64(width) / 30
		if r.Hours == office {
			chance *= 7.0 / 5
		}
		happens := random.Float64() < chance
		length := r.length(random)
		starts := at.Add(r.start(random, slot, length))
		if weekday := at.Weekday(); r.Hours == office && (weekday == time.Saturday || weekday == time.Sunday) {
			happens = false
		}
		if happens && !starts.Before(since) && !starts.After(until) {
			e := newEpisode(server, database, r, starts, length)
			e.byPerson = random.IntN(4) == 0
			all = append(all, e)
		}
	}
	return all
}

// length draws how long an alert lasts: short ones are more frequent than long ones.
func (r rule) length(random *rand.Rand) time.Duration {
	ratio := float64(r.Longest) / float64(r.Shortest)
	return time.Duration(float64(r.Shortest) * math.Pow(ratio, random.Float64())).Truncate(time.Second)
}

// start draws how far into its slot an alert starts that ends before the slot does.
func (r rule) start(random *rand.Rand, slot, length time.Duration) time.Duration {
	from, to := time.Duration(0), slot-length
	switch r.Hours {
	case office:
		from, to = 8*time.Hour, 17*time.Hour+30*time.Minute
	case night:
		from, to = 45*time.Minute, 4*time.Hour
	case anytime, lasting:
	}
	return (from + time.Duration(random.Int64N(int64(to-from)))).Truncate(time.Second)
}

func newEpisode(server, database string, r rule, starts time.Time, length time.Duration) episode {
	parts := []string{"demo", server, database, r.ID, starts.Format("20060102T150405Z")}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return episode{
		key: strings.Join(parts, "/"), server: server, database: database, rule: r.ID, title: r.Title, severity: r.Severity,
		between: between{starts, starts.Add(length)},
	}
}

// hash is a number for some words (FNV-1a).
func hash(words ...string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(words, "\x00"))) // a hash.Hash never fails
	return h.Sum64()
}

// item is the alert as its sender knows it at now.
func (e episode) item(now time.Time) alerting.Item {
	item := alerting.Item{
		ExternalID: e.key, Title: e.title, Severity: e.severity, State: alert.Open,
		CreatedAt: e.starts, FirstTriggeredAt: e.starts,
		LastTriggeredAt: instant.Later(e.starts, now.UTC().Truncate(time.Minute)),
	}
	if !e.ends.After(now) {
		item.State = alert.AutoResolvedState
		if e.byPerson {
			item.State = alert.ResolvedState
		}
		item.ResolvedAt = &e.ends
		// It fired until the minute before: the sender looks once a minute.
		item.LastTriggeredAt = instant.Later(e.starts, e.ends.Add(-time.Minute))
	}
	if e.server != "" {
		item.Instance = &e.server
	}
	if e.database != "" {
		item.Database = &e.database
	}
	if m, ok := meaningOf(engineOf(e.server), e.rule); ok {
		item.Rule, item.Description = m.rule(e.rule), m.text()
	}
	return item
}
