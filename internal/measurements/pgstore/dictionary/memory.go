package dictionary

import (
	"slices"
	"sync"
	"time"
)

const (
	// mostRemembered is the number of statements that a process knows to be in the dictionary:
	// 32 MB.
	mostRemembered = 4 << 20
	// rememberedFor is how long that is believed, far below statementsKept, after which the
	// dictionary forgets.
	rememberedFor = 24 * time.Hour
)

// NoteHour is the hour of a series that a time is in. Each series' hours begin at another
// second, so that a fleet does not write all its statements in the same minute.
func NoteHour(series int64, at time.Time) time.Time {
	begins := time.Duration(series%3600) * time.Second
	return at.Add(-begins).Truncate(time.Hour).Add(begins)
}

// remembered are statements of a series in the dictionary: first seen at first or before, and
// last in hour or after. That stays true whichever process writes, because the first time only
// becomes earlier, the other only later, and nothing deletes a recently seen one.
type remembered struct {
	first, hour time.Time
	hashes      []int64 // in order; never changed, for who reads holds no lock
}

// memory is what this process need not ask the dictionary.
type memory struct {
	mu     sync.Mutex
	series map[int64]remembered
	size   int // of all hashes
}

// known are the statements of a series that need no look-up in the dictionary when they were
// executed at a time; none if that is too early, or in a later hour than the process knows
// about.
func (m *memory) known(series int64, at, now time.Time) []int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.series[series]
	if !ok || at.Before(r.first) || NoteHour(series, at).After(r.hour) || now.Sub(r.hour) >= rememberedFor {
		return nil
	}
	return r.hashes
}

// add remembers entries, in the order of series and hash, that the dictionary has: the
// transaction that found or wrote them is committed.
func (m *memory) add(entries []entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(entries) > 0 {
		series := entries[0].Series
		end := slices.IndexFunc(entries, func(e entry) bool { return e.Series != series })
		if end < 0 {
			end = len(entries)
		}
		known := m.series[series]
		m.size -= len(known.hashes)
		known = known.with(entries[:end])
		m.size += len(known.hashes)
		m.series[series], entries = known, entries[end:]
	}
	if m.size > mostRemembered {
		m.series, m.size = make(map[int64]remembered), 0
	}
}

// with adds entries of the same series. Only those of the newest hour are of use.
func (r remembered) with(entries []entry) remembered {
	hours := make([]time.Time, len(entries))
	for i, e := range entries {
		if hours[i] = NoteHour(e.Series, e.Last); hours[i].After(r.hour) {
			r = remembered{hour: hours[i]}
		}
	}
	hashes := slices.Clone(r.hashes)
	for i, e := range entries {
		if !hours[i].Equal(r.hour) {
			continue
		}
		hashes = append(hashes, e.Hash)
		if e.First.After(r.first) {
			r.first = e.First
		}
	}
	slices.Sort(hashes)
	r.hashes = slices.Compact(hashes)
	return r
}
