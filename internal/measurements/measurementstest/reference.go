package measurementstest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/internal/measurements"
)

// Reference is a measurements.Store that keeps every sample in memory and reads all of
// them for each answer. It is written from the specification, sentence by sentence, so
// that one can see that it is right; nothing in it is fast.
type Reference struct {
	mu            sync.Mutex
	now           time.Time
	organizations map[uuid.UUID]*samples
}

// NewReference returns an empty one.
func NewReference() *Reference {
	return &Reference{now: time.Now(), organizations: make(map[uuid.UUID]*samples)}
}

// Harness is the reference as the suite takes it.
func (r *Reference) Harness() Harness {
	nothing := func(context.Context) error { return nil } // it reads what is raw
	return Harness{Store: r, Roll: nothing, Age: r.age, Seal: r.seal}
}

// samples are those of an organization.
type samples struct {
	hosts      map[hostSample]measurements.HostSample
	sessions   map[databaseSample]measurements.SessionSample
	statements map[databaseSample]measurements.StatementSample
	servers    map[databaseSample]measurements.ServerSample
	arrived    map[seriesHour]time.Time // when the last sample of it arrived
	sealed     map[seriesHour]bool
	turns      map[uuid.UUID]turn // by instance
}

// hostSample and databaseSample are what a sample is known by.
type hostSample struct {
	host string
	at   time.Time
}

type databaseSample struct {
	instance, database uuid.UUID
	at                 time.Time
	part               measurements.SessionPart
}

// seriesHour is the unit of lateness.
type seriesHour struct {
	kind, subject string
	hour          time.Time
}

// of returns an organization's samples.
func (r *Reference) of(organization uuid.UUID) *samples {
	if r.organizations[organization] == nil {
		r.organizations[organization] = &samples{
			hosts: make(map[hostSample]measurements.HostSample), sessions: make(map[databaseSample]measurements.SessionSample),
			statements: make(map[databaseSample]measurements.StatementSample), servers: make(map[databaseSample]measurements.ServerSample),
			arrived: make(map[seriesHour]time.Time), sealed: make(map[seriesHour]bool), turns: make(map[uuid.UUID]turn),
		}
	}
	return r.organizations[organization]
}

// Write is documented at measurements.Store.
func (r *Reference) Write(ctx context.Context, b measurements.Batch) (receipt measurements.Receipt, err error) {
	if b.Guard != nil {
		if err := b.Guard(ctx, nil); err != nil {
			return measurements.Receipt{}, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.of(b.Organization)
	ours, err := s.inTurn(b, r.now)
	if err != nil {
		return measurements.Receipt{}, err
	}
	receipt.Counted = len(b.Statements) - len(ours)
	for _, h := range b.Hosts {
		h.At = instant.Cut(h.At)
		if s.late("host", h.Host, h.At, r.now) {
			receipt.TooLate.Hosts++
			continue
		}
		receipt.Accepted.Hosts++
		key := hostSample{h.Host, h.At}
		if first, ok := s.hosts[key]; ok {
			h = joinHosts(first, h)
		}
		s.hosts[key] = h
	}
	for _, v := range b.Sessions {
		v.At = instant.Cut(v.At)
		if v.Part != measurements.OnlyCounts && s.late("sessions", v.Instance.String(), v.At, r.now) {
			receipt.TooLate.Sessions++
			continue
		}
		receipt.Accepted.Sessions++
		key := databaseSample{v.Instance, v.Database, v.At, v.Part}
		if _, ok := s.sessions[key]; !ok { // the first content stays
			s.sessions[key] = v
		}
	}
	for _, v := range ours {
		v.At = instant.Cut(v.At)
		if s.late("statements", v.Instance.String(), v.At, r.now) {
			receipt.TooLate.Statements++
			continue
		}
		receipt.Accepted.Statements++
		key := databaseSample{v.Instance, v.Database, v.At, 0}
		if _, ok := s.statements[key]; !ok {
			s.statements[key] = v
		}
	}
	for _, v := range b.Servers {
		v.At = instant.Cut(v.At)
		if len(v.Figures) == 0 {
			continue
		}
		if s.late("server", v.Instance.String(), v.At, r.now) {
			receipt.TooLate.Servers++
			continue
		}
		receipt.Accepted.Servers++
		key := databaseSample{instance: v.Instance, at: v.At}
		if _, ok := s.servers[key]; !ok {
			s.servers[key] = v
		}
	}
	return receipt, nil
}

// late reports whether the hour is sealed, and notes otherwise that one arrives.
func (s *samples) late(kind, subject string, at, now time.Time) bool {
	hour := seriesHour{kind, subject, at.Truncate(time.Hour)}
	if s.sealed[hour] {
		return true
	}
	s.arrived[hour] = now
	return false
}

func (r *Reference) age(_ context.Context, by time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(by)
	return nil
}

func (r *Reference) seal(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.organizations {
		for hour, arrived := range s.arrived {
			s.sealed[hour] = r.now.Sub(arrived) >= 72*time.Hour
		}
	}
	return nil
}

// inOrder returns the values of samples in the order of time.
func inOrder[K comparable, V any](of map[K]V, at func(V) time.Time) []V {
	return slices.SortedFunc(maps.Values(of), func(a, b V) int { return at(a).Compare(at(b)) })
}
