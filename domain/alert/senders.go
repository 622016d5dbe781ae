package alert

import (
	"slices"
	"time"

	"muster/domain/instant"
)

const (
	// maxSenders bounds who is remembered of an alert. The oldest is forgotten first.
	maxSenders = 16
	// remembered is for how long a sender is that has ended an alert: Prometheus says so again
	// for 15 minutes.
	remembered = time.Hour
	// claims is how long a sender without an announced end counts as firing after another
	// sender has ended the alert. Such a sender repeats itself within that time (Alertmanager:
	// every four hours), unless another member of its cluster reported its end, or the alert
	// was silenced.
	claims = 24 * time.Hour
)

// Sender is one of the machines that told an open alert.
type Sender struct {
	Name      string    `json:"name"`
	StartedAt time.Time `json:"from"`            // the latest start that it named
	SeenAt    time.Time `json:"seen,omitzero"`   // when it saw it fire last
	EndsAt    time.Time `json:"to,omitzero"`     // when it is over unless it says so again, or was over; zero: open end
	Ended     bool      `json:"ended,omitempty"` // it said that it is over
}

// senders are the senders of an alert; the last one is the one that spoke last.
type senders []Sender

func (s senders) find(name string) (Sender, bool) {
	i := slices.IndexFunc(s, func(one Sender) bool { return one.Name == name })
	if name == "" || i < 0 {
		return Sender{}, false
	}
	return s[i], true
}

// with are the senders with this one in its new state.
func (s senders) with(one Sender, now time.Time) senders {
	next := slices.DeleteFunc(slices.Clone(s), func(other Sender) bool {
		return other.Name == one.Name || !other.EndsAt.IsZero() && other.EndsAt.Before(now.Add(-remembered))
	})
	if next = append(next, one); len(next) > maxSenders {
		next = next[len(next)-maxSenders:]
	}
	return next
}

// fires adds that a sender saw the alert fire.
func (s senders) fires(f Firing) senders {
	if f.Sender == "" {
		return s
	}
	before, _ := s.find(f.Sender)
	return s.with(Sender{
		Name: f.Sender, StartedAt: instant.Later(before.StartedAt, f.StartsAt), SeenAt: instant.Later(before.SeenAt, f.SeenAt), EndsAt: f.EndsAt,
	}, f.SeenAt)
}

// ends adds a sender's report that the alert is over. A sender that never reported it as firing
// speaks for those that announce no end, because the members of an Alertmanager cluster speak
// for each other. Senders that announce an end send a message of their own soon enough.
func (s senders) ends(f Firing) senders {
	if len(s) == 0 {
		return nil
	}
	before, known := s.find(f.Sender)
	next := slices.Clone(s)
	if known {
		next = s.with(Sender{Name: f.Sender, StartedAt: before.StartedAt, SeenAt: before.SeenAt, EndsAt: f.EndsAt, Ended: true}, f.EndsAt)
	}
	for i := range next {
		switch {
		case !next[i].EndsAt.IsZero():
		case known, next[i].SeenAt.After(f.EndsAt.Add(pause)): // that is of another episode
			next[i].EndsAt = instant.Later(f.EndsAt, next[i].SeenAt).Add(claims)
		default:
			next[i].EndsAt, next[i].Ended = f.EndsAt, true
		}
	}
	return next
}

// until is the latest end that the senders reported or announced; zero: one of them announces
// none. firing says whether any of them still reports, at a time, that the alert fires.
func (s senders) until(at time.Time) (end time.Time, firing bool) {
	open := false
	for _, one := range s {
		open = open || one.EndsAt.IsZero()
		firing = firing || !one.Ended && (one.EndsAt.IsZero() || one.EndsAt.After(at))
		end = instant.Later(end, one.EndsAt)
	}
	if open {
		end = time.Time{}
	}
	return end, firing
}
