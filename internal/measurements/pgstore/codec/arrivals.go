package codec

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
)

// Arrivals groups a batch by series and time, in the order of kind, subject and time.
// Several samples of one, of other databases or other parts of a scrape, are one body;
// of what two of them say the first stays.
func Arrivals(b measurements.Batch) ([]Arrival, error) {
	all := make([]Arrival, 0, b.Len())
	arrived := func(kind, subject string, engine fleet.Engine, at time.Time, body []byte) {
		s := Sample{At: instant.Cut(at), Body: body}
		all = append(all, Arrival{Kind: kind, Subject: subject, Engine: engine, Sample: s, Count: 1})
	}
	for _, s := range b.Hosts {
		arrived(Hosts, s.Host, "", s.At, hostBodyOf(s).encode())
	}
	for _, s := range b.Sessions {
		if s.Part == measurements.OnlyCounts {
			continue // which are of now, and of no series
		}
		arrived(Sessions, s.Instance.String(), s.Engine, s.At, appendSessions(nil, s.Database, waitingOf(s)))
		arrived(Activity, s.Instance.String(), s.Engine, s.At, appendActivity(nil, &s, b.NameKey))
	}
	for i := range b.Servers {
		if s := &b.Servers[i]; len(s.Figures) > 0 {
			arrived(Servers, s.Instance.String(), s.Engine, s.At, appendServer(s, b.NameKey))
		}
	}
	type sampleOf struct {
		instance, database uuid.UUID
		at                 time.Time
	}
	known := make(map[sampleOf]bool)
	for _, s := range b.Statements {
		arrived(Statements, s.Instance.String(), s.Engine, s.At, appendStatements(nil, s))
		if of := (sampleOf{s.Instance, s.Database, instant.Cut(s.At)}); !known[of] {
			if known[of] = true; s.BusyMs != nil {
				arrived(Busy, s.Instance.String(), s.Engine, s.At, appendBusy(nil, s))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Arrival) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subject, b.Subject), a.At.Compare(b.At))
	})
	joined := all[:0]
	for _, a := range all {
		n := len(joined)
		if n == 0 || joined[n-1].Kind != a.Kind || joined[n-1].Subject != a.Subject || !joined[n-1].At.Equal(a.At) {
			joined = append(joined, a)
			continue
		}
		body, _, err := KindOf(a.Kind).Merge(joined[n-1].Body, a.Body)
		if err != nil {
			return nil, err
		}
		joined[n-1].Body = body
		joined[n-1].Count += a.Count
	}
	return joined, nil
}

// EachName hands the hashes of the names in the body of a sample of sessions' activity or of a
// server to take.
func EachName(kind string, body []byte, take func(hash uint64)) error {
	of := func(c *Combination) {
		for place, hash := range c.Names {
			if place != NameStatement && hash != 0 {
				take(hash)
			}
		}
	}
	switch kind {
	case Activity:
		for r := read(body); len(r.Bytes) > 0; {
			nextActivity(&r, r.UUID(), func(c Combination, _ uint64) { of(&c) })
			if r.Bad() {
				return rowbytes.ErrBytes
			}
		}
	case Servers:
		all, err := decodeFigures(body)
		for _, sum := range all {
			if sum.holder != nil {
				of(&sum.holder.Combination)
			}
		}
		return err
	}
	return nil
}
