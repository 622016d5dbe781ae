package replication

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
)

// Standing is how the replication of a server stands, for whoever judges it. What somebody who is
// watched does not follow is said of that one alone, so nothing is said twice.
type Standing struct {
	Instance uuid.UUID
	At       time.Time
	// Lag is that of the server itself or, if greater, of a standby of it that nobody watches, in
	// seconds; nil: it is not known. Laggard names that standby; empty: the server itself.
	Lag     *float64
	Laggard string
	// Broken is how many do not follow: the server, standbys of it that nobody watches, and its
	// subscriptions. First names one of them, empty for the server, and Why says what is wrong with it.
	Broken     int
	First, Why string
}

// watchedFor is for how long after its newest State a server counts as watched.
const watchedFor = 24 * time.Hour

// Stand says how replication stands by States that Record kept. A server that does not replicate, and
// did not in the State before, has no Standing, and neither has one that does not tell its role.
func Stand(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, kept []Kept) (all []Standing, err error) {
	for i := range kept {
		k := &kept[i]
		if k.Role == "" || !k.Replicates() && !k.replicated {
			continue
		}
		related := []Kept{*k}
		if len(k.Peers) > 0 {
			if related, err = relatedTo(ctx, q, organization, fleet.Scope{}, *k); err != nil {
				return nil, err
			}
		}
		all = append(all, standingOf(k, related))
	}
	return all, nil
}

func standingOf(k *Kept, related []Kept) Standing {
	s := Standing{Instance: k.Instance, At: k.At}
	broken := func(name string, t Trouble) {
		if t.Condition != Broken && t.Condition != Paused && t.Condition != Gone {
			return
		}
		if s.Broken++; s.Broken == 1 {
			s.First, s.Why = name, t.Why
		}
	}
	broken("", k.Trouble)
	s.Lag = k.LagSeconds
	if k.Role != Standby && k.Role != Mixed { // nobody that it follows may lag
		s.Lag = new(float64)
	}
	picture := PictureOf(k.Instance, related, k.At)
	node := slices.IndexFunc(picture.Nodes, func(n Node) bool { return n.Instance == k.Instance })
	for _, e := range picture.Edges {
		to := picture.Nodes[e.To]
		watched := to.Instance != uuid.Nil && k.At.Sub(to.At) < watchedFor
		if e.From != node || e.Kind == Logical || watched {
			continue
		}
		name := to.Name
		if name == "" {
			name = e.name
		}
		broken("standby "+name, e.Trouble)
		if e.LagSeconds != nil && (s.Lag == nil || *e.LagSeconds > *s.Lag) {
			s.Lag, s.Laggard = e.LagSeconds, name
		}
	}
	for _, of := range k.Subscriptions {
		broken("subscription "+of.Name, of.Trouble)
	}
	return s
}
