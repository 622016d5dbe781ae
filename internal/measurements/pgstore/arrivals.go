package pgstore

import (
	"cmp"
	"slices"
	"time"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/internal/measurements"
)

// arrivals groups a batch by series and time, in the order of kind, subject and time.
// Several samples of one, of other databases or other parts of a scrape, are one body;
// of what two of them say the first stays.
func arrivals(b measurements.Batch) ([]arrival, error) {
	all := make([]arrival, 0, b.Len())
	arrived := func(kind, subject string, engine fleet.Engine, at time.Time, body []byte) {
		s := sample{at: instant.Cut(at), body: body}
		all = append(all, arrival{kind: kind, subject: subject, engine: engine, sample: s, count: 1})
	}
	for _, s := range b.Hosts {
		arrived(hosts, s.Host, "", s.At, hostBodyOf(s).encode())
	}
	for _, s := range b.Sessions {
		arrived(sessions, s.Instance.String(), s.Engine, s.At, appendSessions(nil, s.Database, waitingOf(s)))
	}
	for _, s := range b.Statements {
		arrived(statements, s.Instance.String(), s.Engine, s.At, appendStatements(nil, s))
	}
	slices.SortStableFunc(all, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.subject, b.subject), a.at.Compare(b.at))
	})
	joined := all[:0]
	for _, a := range all {
		n := len(joined)
		if n == 0 || joined[n-1].kind != a.kind || joined[n-1].subject != a.subject || !joined[n-1].at.Equal(a.at) {
			joined = append(joined, a)
			continue
		}
		body, _, err := kindOf(a.kind).merge(joined[n-1].body, a.body)
		if err != nil {
			return nil, err
		}
		joined[n-1].body = body
		joined[n-1].count += a.count
	}
	return joined, nil
}
