package demo

import (
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/internal/engine"
	"muster/internal/measurements"
)

const (
	// agentInterval is how often the agents of the servers on paper take samples.
	agentInterval = time.Minute
	// agentTicks is how often within that statements are sampled (20 s) that need several
	// samples in every bucket, and how many samples a longer time has of them.
	agentTicks = 3
)

// agents are what runs on the servers on paper: what they measure is a pure
// function of when the organization was made and of the minute.
type agents struct {
	made    time.Time
	off     map[string]between // offTimes
	servers []agent
}

// agent measures one server.
type agent struct {
	server
	days      chance // of how busy each day is
	instance  uuid.UUID
	since     time.Time   // when the server was registered
	tenants   []uuid.UUID // what runs on the host, this server included
	strains   []episode   // those that are one of the server
	down      []between   // when it is
	full      []crowd     // when fullMount is
	crowds    []crowd     // in the time that is asked for, full among them
	locked    []time.Time // when heldServer had deadlocks
	databases []database
}

// database is one of its databases, with its share in the incidents.
type database struct {
	id      uuid.UUID
	name    string
	strains []episode // those that are one
	size    float64   // of its work in that of a database of the server, about 1
	busy    chance    // of how much of its time its statements explain
	queries []seededQuery
}

// seededQuery is a query of one database, with what its figures are drawn from.
type seededQuery struct {
	query
	text                   string
	calls, length, longest chance
	// It is there from a time on, and takes so many times longer until another.
	since, mended time.Time
	slower        float64
}

// newAgents puts agents on the servers that are there under these ids.
func newAgents(made time.Time, paper []inventory.IDs) *agents {
	made = made.UTC().Truncate(time.Minute)
	a := &agents{made: made, off: offTimes(made)}
	ids, on := map[string]inventory.IDs{}, map[string][]uuid.UUID{}
	for _, known := range paper {
		ids[known.ExternalID] = known
	}
	for _, s := range servers() {
		if known, ok := ids[s.Name]; ok {
			on[s.Host] = append(on[s.Host], known.ID)
		}
	}
	for _, s := range servers() {
		if known, ok := ids[s.Name]; ok && len(s.Volumes) > 0 {
			a.servers = append(a.servers, newAgent(made, s, known, on[s.Host]))
		}
	}
	return a
}

// offTimes are when agents were off, by their hosts, each once; of none: the collector was.
func offTimes(made time.Time) map[string]between {
	made = made.UTC().Truncate(time.Minute)
	off := map[string]between{}
	for _, o := range append(slices.Clone(outages), lastOutage) {
		from := made.Truncate(day).Add(o.from)
		if o == lastOutage {
			from = made.Add(o.from)
		}
		off[o.host] = between{from, from.Add(o.length)}
	}
	return off
}

func newAgent(made time.Time, s server, ids inventory.IDs, tenants []uuid.UUID) agent {
	a := agent{
		server: s, days: newChance(s.Name, "day"), instance: ids.ID, tenants: tenants,
		since: made.Truncate(day).AddDate(0, 0, -s.Days).Add(9 * time.Hour), // as alerts have it
	}
	incidents := slices.DeleteFunc(scripted(made), func(e episode) bool { return e.server != s.Name })
	for _, e := range incidents {
		if s.Name == fullServer && e.rule == fullRule {
			a.full = []crowd{{e.between, fullMount, 100, fills}}
		}
		if e.strain.ofServer() {
			a.strains = append(a.strains, e)
		}
	}
	a.down = downs(made, s.Name)
	if s.Name == heldServer {
		a.locked = deadlocksAt(made)
	}
	for _, d := range ids.Databases {
		of := database{id: d.ID, name: d.ExternalID, size: 0.5 + newChance(s.Name, d.ExternalID).draw(0), busy: newChance(s.Name, d.ExternalID, "busy")}
		seeded := func(q query) seededQuery {
			seed := func(what string) chance { return newChance(s.Name, d.ExternalID, q.key, what) }
			return seededQuery{query: q, text: textOf(s.Engine, d.ExternalID, q.key), calls: seed("calls"), length: seed("length"), longest: seed("longest")}
		}
		for _, q := range queries {
			of.queries = append(of.queries, seeded(q))
		}
		if released.server == s.Name && released.database == d.ExternalID {
			q := seeded(released.query)
			q.since, q.mended, q.slower = made.Add(released.since), made.Add(released.mended), released.slower
			of.queries = append(of.queries, q)
		}
		for _, e := range incidents {
			if e.database == d.ExternalID && e.strain != (strain{}) {
				of.strains = append(of.strains, e)
			}
		}
		if s.Name == heldServer && d.ExternalID == heldDatabase {
			for _, h := range holdups(made) {
				if !h.storm { // which is one of the incidents
					of.strains = append(of.strains, h.strain())
				}
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
		s.crowds = append(crowdsOf(a.made, s.server, from, to), s.full...)
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
	if collector := a.off[""]; collector.has(last) {
		return
	}
	for i := range a.servers {
		s := &a.servers[i]
		if first.Before(s.since) || s.gone(last) {
			continue
		}
		if off := a.off[s.Host]; !off.has(last) {
			b.Hosts = append(b.Hosts, s.hostSample(a.made, last))
		}
		if told := s.figures(first, last); told != nil {
			b.Servers = append(b.Servers, *told)
		}
		for k := range s.databases {
			b.Sessions = append(b.Sessions, s.sessions(&s.databases[k], last))
			if engine.StatementsOf(s.Engine).Hides(first, a.made) {
				continue
			}
			b.Statements = append(b.Statements, s.statements(&s.databases[k], first, last)...)
		}
	}
}

// load is how busy the server is at a time: no two days have the same to do.
func (a *agent) load(at time.Time) float64 {
	return a.Rhythm.load(at) * (0.88 + 0.24*a.days.drift(minuteOf(at), int64(day/time.Minute)))
}

// hostSample is the machine at a minute.
func (a *agent) hostSample(made, at time.Time) measurements.HostSample {
	minute := minuteOf(at)
	seed := func(what string) chance { return newChance(a.Host, what) }
	cpu := a.CPU[0] + (a.CPU[1]-a.CPU[0])*a.load(at)*(0.85+0.3*seed("work").drift(minute, 15)) + 5*(seed("cpu").draw(minute)-0.5)
	for _, held := range a.strains {
		cpu += held.strain.CPU * held.strength(at)
	}
	memory := a.Memory + 5*(seed("memory").drift(minute, 360)-0.5) + 4*a.load(at)
	cpu, memory = percent(cpu), percent(memory)
	size := measurements.MemoryBytes{Total: a.RAM * (1 << 30), Available: -1, Used: -1} // for the hints of scorecards: the percentage is told
	s := measurements.HostSample{Host: a.Host, Instances: a.tenants, At: at, CPUPercent: &cpu, MemoryPercent: &memory, Memory: &size}
	for _, v := range a.Volumes {
		used := v.used(made, at) + 0.3*seed(v.Mount).drift(minute, 45)
		for _, c := range a.crowds {
			if c.mount == v.Mount {
				used = c.used(at, used)
			}
		}
		used = percent(used)
		s.Volumes = append(s.Volumes, measurements.Volume{Mount: v.Mount, UsedPercent: &used})
	}
	return s
}

// used is how full the volume is.
func (v volume) used(made, at time.Time) float64 {
	if v.isFilling() {
		return filling(made, at)
	}
	last := made.Truncate(day).AddDate(0, 0, -v.Before)
	days := math.Mod(at.Sub(last).Hours()/24, float64(v.Every))
	if days < 0 {
		days += float64(v.Every)
	}
	return v.Low + v.Grows*days
}

// percent keeps a figure between 0 and 100, with one decimal place.
func percent(x float64) float64 { return math.Round(10*min(max(x, 0), 100)) / 10 }
