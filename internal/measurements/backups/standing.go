package backups

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"
)

// State is how the backups of a database stand against its RPO.
type State string

// The states, from the worst to the best.
const (
	None        State = "none"    // its source knows of no backup
	Late        State = "late"    // older than the RPO
	NotKnown    State = "unknown" // it cannot be told
	InTime      State = "kept"
	noAge             = time.Duration(0)
	onlyWAL           = "WAL is archived, but no source tells of a base backup."
	onlyPartial       = "No source tells of a full backup."
)

// States returns every state.
func States() []State { return []State{None, Late, NotKnown, InTime} }

// Standing is how the backups of a database stand at a time.
type Standing struct {
	Database uuid.UUID // zero: the whole server
	State    State
	// RestorableTo is the end of the newest backup that can be used; nil: there is none, or it is not known.
	RestorableTo *time.Time
	// Age is how long ago that was; of None, how long there has been no backup at least. It is zero if
	// the state is NotKnown.
	Age   time.Duration
	Why   string   // it is not known
	NoLog bool     // it has no backups of its log
	Of    []Newest // the newest of each kind, its own or the server's; full ones first
}

// Known is whether there is an age to compare.
func (s *Standing) Known() bool { return s.State != NotKnown }

// StandingsOf says how the databases of a server stand, worst first. newest and looks are the server's.
func StandingsOf(newest []Newest, looks []Look, rpo time.Duration, now time.Time) []Standing {
	type of struct {
		newest []Newest
		since  *Database
	}
	all := map[uuid.UUID]*of{}
	at := func(id uuid.UUID) *of {
		if all[id] == nil {
			all[id] = &of{}
		}
		return all[id]
	}
	for _, n := range newest {
		at(n.Database).newest = append(at(n.Database).newest, n)
	}
	for _, l := range looks {
		for i := range l.Complete {
			at(l.Complete[i].ID).since = &l.Complete[i]
		}
	}
	var standings []Standing
	for id, one := range all {
		own := one.newest
		if id != uuid.Nil && all[uuid.Nil] != nil {
			own = slices.Concat(own, all[uuid.Nil].newest)
		}
		s := standingOf(own, one.since, rpo, now)
		s.Database = id
		standings = append(standings, s)
	}
	slices.SortFunc(standings, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(slices.Index(States(), a.State), slices.Index(States(), b.State)), cmp.Compare(b.Age, a.Age), slices.Compare(a.Database[:], b.Database[:]))
	})
	return standings
}

// standingOf judges the newest backups of one database. since is what its source says of it; nil: no
// source knows every backup of it.
func standingOf(newest []Newest, since *Database, rpo time.Duration, now time.Time) Standing {
	s := Standing{State: NotKnown, Age: noAge, NoLog: since != nil && since.NoLog}
	var whole, last *time.Time
	for _, kind := range Kinds() {
		n := newestOf(newest, kind)
		if n == nil {
			continue
		}
		s.Of = append(s.Of, *n)
		if kind.Whole() {
			whole = later(whole, n.FinishedAt)
		}
		last = later(last, n.FinishedAt)
	}
	switch {
	case whole != nil:
		s.RestorableTo, s.Age = last, max(now.Sub(*last), 0)
		s.State = InTime
	case since != nil:
		s.State, s.Age = None, max(now.Sub(since.Since), 0)
		if s.Age <= rpo { // it is new
			s.State = InTime
		}
	case newestOf(s.Of, WAL) != nil:
		s.Why = onlyWAL
	default:
		s.Why = onlyPartial
	}
	if s.State == InTime && s.Age > rpo {
		s.State = Late
	}
	return s
}

func newestOf(all []Newest, kind Kind) (newest *Newest) {
	for i := range all {
		if all[i].Kind == kind && (newest == nil || all[i].FinishedAt.After(newest.FinishedAt)) {
			newest = &all[i]
		}
	}
	return newest
}

func later(a *time.Time, b time.Time) *time.Time {
	if a == nil || b.After(*a) {
		b = b.UTC()
		return &b
	}
	return a
}
