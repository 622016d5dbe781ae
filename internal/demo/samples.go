package demo

import (
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/fleet"
	"muster/internal/measurements"
)

const (
	// agentInterval is how often the agents of the servers on paper take samples.
	agentInterval = time.Minute
	// oracleTicks is how often within that Oracle's statements are sampled (20 s), and
	// how many of the samples of a longer time: its rule wants two in every bucket.
	oracleTicks = 3
	oracleDays  = 7 // of which Oracle's statements are ever shown
)

// agents are what runs on the servers on paper: what they measure is a pure
// function of when the organization was made and of the minute.
type agents struct {
	made    time.Time
	outages []between          // of everything
	off     map[string]between // of hosts
	servers []agent
}

// agent measures one server.
type agent struct {
	workload
	days      chance // of how busy each day is
	engine    fleet.Engine
	instance  uuid.UUID
	since     time.Time // when the server was registered
	host      string
	tenants   []uuid.UUID // what runs on the host, this server included
	full      between     // when fullMount is full; zero: never
	crowds    []crowd     // in the time that is asked for
	databases []database
}

// database is one of its databases, with its share in the incidents.
type database struct {
	id      uuid.UUID
	name    string
	strains []timedStrain
	size    float64 // of its work in that of a database of the server, about 1
	queries []seededQuery
}

// seededQuery is a query of one database, with what its figures are drawn from.
type seededQuery struct {
	query
	calls, length, longest chance
}

type timedStrain struct {
	strain
	between
}

// newAgents puts agents on the servers that are there under these ids.
func newAgents(made time.Time, paper []commands.FleetIDs) *agents {
	made = made.UTC().Truncate(time.Minute)
	a := &agents{made: made, off: map[string]between{}}
	for _, o := range append(slices.Clone(outages), lastOutage) {
		from := made.Truncate(day).Add(o.from)
		if o == lastOutage {
			from = made.Add(o.from)
		}
		if o.host == "" {
			a.outages = append(a.outages, between{from, from.Add(o.length)})
		} else {
			a.off[o.host] = between{from, from.Add(o.length)}
		}
	}
	on := map[string][]uuid.UUID{}
	for _, ids := range paper {
		on[hostOf(ids.ExternalID)] = append(on[hostOf(ids.ExternalID)], ids.ID)
	}
	for _, w := range workloads {
		i := slices.IndexFunc(paper, func(ids commands.FleetIDs) bool { return ids.ExternalID == w.server })
		if i >= 0 {
			a.servers = append(a.servers, newAgent(made, w, paper[i], on[hostOf(w.server)]))
		}
	}
	return a
}

func hostOf(name string) string {
	i := slices.IndexFunc(servers, func(s server) bool { return s.name == name })
	if i < 0 {
		return ""
	}
	return servers[i].host
}

func newAgent(made time.Time, w workload, ids commands.FleetIDs, tenants []uuid.UUID) agent {
	of := servers[slices.IndexFunc(servers, func(s server) bool { return s.name == w.server })]
	a := agent{
		workload: w, days: newChance(w.server, "day"), engine: of.engine, instance: ids.ID, host: of.host, tenants: tenants,
		since: made.Truncate(day).AddDate(0, 0, -of.daysOld).Add(9 * time.Hour), // as alerts have it
	}
	if w.server == fullServer {
		a.full = story(made, fullServer, "", fullRule)
	}
	for _, d := range ids.Databases {
		of := database{id: d.ID, name: d.ExternalID, size: 0.5 + newChance(w.server, d.ExternalID).draw(0)}
		for _, q := range queries {
			seed := func(what string) chance { return newChance(w.server, d.ExternalID, q.key, what) }
			of.queries = append(of.queries, seededQuery{q, seed("calls"), seed("length"), seed("longest")})
		}
		for _, s := range strains {
			if s.server == w.server && s.database == d.ExternalID {
				of.strains = append(of.strains, timedStrain{s, story(made, s.server, s.database, s.rule)})
			}
		}
		a.databases = append(a.databases, of)
	}
	return a
}

// samples are what is measured in the minutes from one to another, of so many
// minutes at once: a host and its sessions are looked at in the last of them, and
// statements are counted over all. Cut into other times, what is counted is the same.
func (a *agents) samples(from, to time.Time, atOnce time.Duration) measurements.Batch {
	var b measurements.Batch
	for i := range a.servers {
		s := &a.servers[i]
		s.crowds = crowdsOf(a.made, s.workload, s.engine, from, to)
	}
	for first := from; first.Before(to); {
		next := first.Truncate(atOnce).Add(atOnce)
		if next.After(to) {
			next = to
		}
		a.look(&b, first, next.Add(-time.Minute))
		first = next
	}
	return b
}

// look adds the samples of the minutes from first to last.
func (a *agents) look(b *measurements.Batch, first, last time.Time) {
	if slices.ContainsFunc(a.outages, func(o between) bool { return o.has(last) }) {
		return
	}
	for i := range a.servers {
		s := &a.servers[i]
		if first.Before(s.since) {
			continue
		}
		if off := a.off[s.host]; !off.has(last) {
			b.Hosts = append(b.Hosts, s.hostSample(a.made, last))
		}
		for k := range s.databases {
			b.Sessions = append(b.Sessions, s.sessions(&s.databases[k], last))
			if s.engine == fleet.Oracle && first.Before(a.made.AddDate(0, 0, -oracleDays)) {
				continue
			}
			b.Statements = append(b.Statements, s.statements(&s.databases[k], first, last)...)
		}
	}
}

// load is how busy the server is at a time: no two days have the same to do.
func (a *agent) load(at time.Time) float64 {
	return a.rhythm.load(at) * (0.88 + 0.24*a.days.drift(minuteOf(at), int64(day/time.Minute)))
}

// hostSample is the machine at a minute.
func (a *agent) hostSample(made, at time.Time) measurements.HostSample {
	minute := minuteOf(at)
	seed := func(what string) chance { return newChance(a.host, what) }
	cpu := a.cpu[0] + (a.cpu[1]-a.cpu[0])*a.load(at)*(0.85+0.3*seed("work").drift(minute, 15)) + 5*(seed("cpu").draw(minute)-0.5)
	memory := a.memory + 5*(seed("memory").drift(minute, 360)-0.5) + 4*a.load(at)
	cpu, memory = percent(cpu), percent(memory)
	s := measurements.HostSample{Host: a.host, Instances: a.tenants, At: at, CPUPercent: &cpu, MemoryPercent: &memory}
	for _, v := range a.volumes {
		used := v.used(made, at) + 0.3*seed(v.mount).drift(minute, 45)
		if v.mount == fullMount {
			used = fullness(a.full, at, used)
		}
		for _, c := range a.crowds {
			if c.mount == v.mount {
				used = c.used(at, used)
			}
		}
		used = percent(used)
		s.Volumes = append(s.Volumes, measurements.Volume{Mount: v.mount, UsedPercent: &used})
	}
	return s
}

// used is how full the volume is.
func (v volume) used(made, at time.Time) float64 {
	last := made.Truncate(day).AddDate(0, 0, -v.before)
	days := math.Mod(at.Sub(last).Hours()/24, float64(v.every))
	if days < 0 {
		days += float64(v.every)
	}
	return v.low + v.grows*days
}

// fullness is how full a volume is that otherwise would be as full as usual.
func fullness(full between, at time.Time, usual float64) float64 {
	if full.has(at) {
		return 100
	}
	if left := full.from.Sub(at); left > 0 && left < fills {
		return usual + (100-usual)*(1-float64(left)/float64(fills))
	}
	return usual
}

// percent keeps a figure between 0 and 100, with one decimal place.
func percent(x float64) float64 { return math.Round(10*min(max(x, 0), 100)) / 10 }
