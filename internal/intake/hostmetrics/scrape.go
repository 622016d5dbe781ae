package hostmetrics

import (
	"time"

	"muster/domain/instant"
	"muster/internal/intake"
	"muster/internal/measurements"
)

// scrape is what a message says of one host at one time.
type scrape struct {
	host      string
	at        time.Time
	instances []string
	points    int
	stale     bool

	counters []measurements.CPUCounter
	memory   *memory
	volumes  []volume
	places   map[mountedOn]int // of volumes
}

// Sample is one look at a host, as it was sent.
type Sample struct {
	measurements.HostSample          // without Instances
	References              []string // the values of muster_instance, each once
	Points                  int      // data points of which it is made
}

// Samples returns what the message brings, in the order in which it did, and drops
// what parts are missing of. It is called once, at the end: the message keeps the
// counts only, so that what it was made of need not be held while samples are written.
func (m *Message) Samples() []Sample {
	out := make([]Sample, 0, len(m.order))
	for _, s := range m.order {
		made := Sample{HostSample: measurements.HostSample{
			Host: s.host, At: instant.Cut(s.at), Stale: s.stale, CPU: measurements.SortCPU(s.counters), Memory: m.memoryOf(s), Volumes: m.volumesOf(s),
		}, References: s.instances, Points: s.points}
		if made.Stale || made.CPU != nil || made.Memory != nil || len(made.Volumes) > 0 {
			out = append(out, made)
		}
	}
	m.names, m.hosts, m.scrapes, m.order, m.last = nil, nil, nil, nil, nil
	return out
}

// unused takes points back that turned out to be of no use.
func (m *Message) unused(s *scrape, reason intake.Reason, points int) {
	s.points -= points
	m.Drop(reason, points)
}

// addCounter is false where there are too many.
func (s *scrape) addCounter(code int32, seconds float64) bool {
	if len(s.counters) == maxCounters {
		return false
	}
	s.counters = append(s.counters, measurements.CPUCounter{Code: code, Seconds: seconds})
	return true
}
