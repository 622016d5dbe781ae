package hostmetrics

import (
	"math"
	"slices"
	"time"

	"muster/domain/printable"
	"muster/internal/intake"
	"muster/internal/measurements"
)

// Limits of what one message may make.
const (
	// MaxSamples limits the samples, each a host and a time, and MaxPoints the data points from
	// which they are made. Prometheus sends 2,000 points at once, vmagent 10,000. A body of 32
	// MiB has room for eight million points of four bytes, which took 2.6 GB as volumes.
	MaxSamples   = 100_000
	MaxPoints    = 500_000
	maxCounters  = 1 << 16 // of a sample: Linux has up to 8,192 CPUs, of eight modes
	maxVolumes   = 1000    // of a sample
	maxInstances = 100     // of a sample
	// maxAhead is how far ahead of ours a sender's clock may be.
	maxAhead = 5 * time.Minute
)

// Message gathers what one message of an agent says of hosts.
type Message struct {
	intake.Receipt // of the data points
	// Names counts them by the names of their metrics, and by why whole series were not used.
	Names intake.Tally

	latest  time.Time // that is taken
	points  int       // that are
	names   map[string]string
	hosts   map[string]string // their keys, by what said which they are
	scrapes map[scrapeKey]*scrape
	order   []*scrape
	last    *scrape // most points are of the scrape of the one before
}

type scrapeKey struct {
	host string
	at   int64 // µs
}

// New returns an empty message that came at receipt.
func New(receipt time.Time) *Message {
	return &Message{Receipt: intake.Receipt{Dropped: map[intake.Reason]int{}}, latest: receipt.Add(maxAhead), names: map[string]string{}, hosts: map[string]string{}, scrapes: map[scrapeKey]*scrape{}}
}

// Pass counts points that are not used.
func (m *Message) Pass(reason intake.Reason, n int) {
	if n > 0 {
		m.Received += n
		m.Drop(reason, n)
	}
}

// Series is what points have in common, made ready once for all of them.
type Series struct {
	message        *Message
	unusable       intake.Reason
	metric         Metric
	host, instance string
	code           int32      // of CPUSeconds
	part           memoryPart // of a memory metric
	volume         mountedOn  // of a volume metric
	pool           string     // likewise
	side           volumePart
}

// Series reads the labels of a series; if they cannot be used, its points are dropped. It keeps
// nothing of the labels' bytes.
func (m *Message) Series(metric Metric, l *Labels) Series {
	s := Series{message: m, metric: metric}
	host, reason := m.hostOf(l)
	if reason == "" {
		reason = s.read(l)
	}
	if s.unusable = reason; reason == "" {
		s.host = host
		if keepable(l.Instance, maxName) == "" {
			s.instance = m.name(l.Instance)
		}
	}
	return s
}

// read takes what the metric has labels for.
func (s *Series) read(l *Labels) intake.Reason {
	switch s.metric {
	case CPUSeconds:
		if len(l.State) == 0 {
			return intake.Incomplete
		}
		mode, known := cpuModes[string(l.State)]
		if l.onWindows() {
			if windows, other := windowsModes[string(l.State)]; other {
				mode, known = windows, true
			}
		}
		switch {
		case !known:
			mode = measurements.ModeOther
		case mode == elsewhere:
			return intake.NotUsed
		}
		number, ok := numberOf(l.CPU)
		if !ok {
			return intake.Unsupported
		}
		s.code = 16*number + mode
		return ""
	case MemoryTotal, MemoryAvailable, MemoryUsage:
		return s.readMemory(l)
	}
	return s.readVolume(l)
}

// name returns the text as a name, the same one for the same bytes.
func (m *Message) name(text []byte) string {
	if known, ok := m.names[string(text)]; ok {
		return known
	}
	made := printable.Clean(string(text))
	m.names[made] = made
	return made
}

// Stale takes the end of a series: the agent no longer sees it at that time.
func (s *Series) Stale(at time.Time) {
	if s.unusable != "" || s.metric != CPUSeconds {
		s.message.Pass(intake.NotUsed, 1)
		return
	}
	if to := s.scrape(at); to != nil {
		to.stale = true
	}
}

// Add takes a point.
func (s *Series) Add(at time.Time, value float64) {
	switch {
	case s.unusable != "":
		s.message.Pass(s.unusable, 1)
		return
	case math.IsNaN(value) || math.IsInf(value, 0):
		s.message.Pass(intake.NotANumber, 1)
		return
	case (s.metric == VolumeReadOnly || s.metric == VolumeInfo) && value == 0:
		s.message.Pass(intake.NotUsed, 1)
		return
	case value < 0 && s.metric == VolumeAvailable:
		// FreeBSD: root has used what is reserved for it, so that the others have less than nothing.
		value = 0
	}
	if value < 0 || value > math.MaxInt64 { // bytes and seconds are whole numbers where they are counted
		s.message.Pass(intake.OutOfRange, 1)
		return
	}
	to := s.scrape(at)
	if to == nil {
		return
	}
	fits := true
	switch s.metric {
	case CPUSeconds:
		fits = to.addCounter(s.code, value)
	case MemoryTotal, MemoryAvailable, MemoryUsage:
		to.addMemory(s.part, value)
	default:
		fits = to.addVolume(s.volume, s.pool, s.side, value)
		if s.metric == VolumeRoom && fits { // Windows reserves nothing
			to.also(s.volume, available, value)
		}
	}
	if !fits {
		s.message.unused(to, intake.TooMany, 1)
	}
}

// scrape is the scrape to which a point belongs, and counts the point; nil if there is none for
// that time, and the point is dropped.
func (s *Series) scrape(at time.Time) *scrape {
	m := s.message
	if m.points == MaxPoints {
		m.Pass(intake.TooMany, 1)
		return nil
	}
	to := m.last
	if to == nil || to.host != s.host || !to.at.Equal(at) {
		if to = m.find(s.host, at); to == nil {
			return nil
		}
		m.last = to
	}
	m.Received++
	m.points++
	to.points++
	if s.instance != "" && !slices.Contains(to.instances, s.instance) && len(to.instances) < maxInstances {
		to.instances = append(to.instances, s.instance)
	}
	return to
}

func (m *Message) find(host string, at time.Time) *scrape {
	key := scrapeKey{host, at.UnixMicro()}
	switch {
	case !at.After(time.Unix(0, 0)), key.at == 0: // or less than a microsecond after
		m.Pass(intake.InvalidTime, 1)
		return nil
	case at.After(m.latest):
		m.Pass(intake.TimeInFuture, 1)
		return nil
	}
	if known := m.scrapes[key]; known != nil {
		return known
	}
	if len(m.order) == MaxSamples {
		m.Pass(intake.TooMany, 1)
		return nil
	}
	made := &scrape{host: host, at: at}
	m.scrapes[key] = made
	m.order = append(m.order, made)
	return made
}
