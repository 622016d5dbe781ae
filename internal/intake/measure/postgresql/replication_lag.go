package postgresql

import (
	"math"
	"time"
)

const (
	// writtenKept is for how many looks it is remembered where a server wrote: for a day.
	writtenKept = 24 * 60
	// silent is for how long a standby may have no word from its sender and still know where that one
	// writes. With the default timeouts, a message comes every 30 s.
	silent = 5 * time.Minute
	// surely is how high a lag may be at the most, in seconds, to be told by that.
	surely = 1.0
)

// written is where a server wrote at a time, or its sender. Times are of the server's clock.
type written struct {
	at  float64
	lsn int64
}

// progress is what earlier looks saw.
type progress struct {
	written []written // in the order of time
	applied *float64  // when the newest change was made that a standby has applied
	ahead   *float64  // seconds that a standby's clock is ahead of its sender's; nil: not known
	looked  bool      // there was a look before this one
}

// heard says whether a standby has had word from its sender of late.
func (t *told) heard() bool {
	received := t.Receiver.Received
	return received == nil || t.Now-*received < silent.Seconds()
}

// end is where the server writes, or the sender of a standby, as far as the standby knows.
func (t *told) end() (at float64, lsn *int64) {
	w := t.Receiver
	if !t.Standby || w == nil || w.End == nil || t.LSN != nil && *t.LSN > *w.End {
		return t.Now, t.LSN
	}
	return t.Now, w.End
}

// remember notes where the server writes, or the sender of a standby.
func (r *reader) remember(t *told) {
	p := &r.progress
	if w := t.Receiver; w != nil && w.Sent != nil && w.Received != nil {
		ahead := *w.Received - *w.Sent
		p.ahead = &ahead
	}
	at, lsn := t.end()
	if lsn == nil || len(p.written) > 0 && *lsn < p.written[len(p.written)-1].lsn {
		*p = progress{ahead: p.ahead} // another server, or a copy of it
	}
	if lsn == nil || !t.Standby && len(t.Peers) == 0 {
		return
	}
	if n := len(p.written); n > 0 && p.written[n-1].lsn == *lsn {
		return // nothing was written since: how late somebody is counts from then
	}
	if w := t.Receiver; w != nil && w.EndSent != nil && lsn == w.End && p.ahead != nil {
		at = math.Min(at, *w.EndSent+*p.ahead)
	}
	if p.written = append(p.written, written{at, *lsn}); len(p.written) > writtenKept {
		p.written = append([]written(nil), p.written[len(p.written)-writtenKept:]...)
	}
}

// since is for how long at least something has been written beyond a position. It is known if an earlier
// look saw that, or saw that there was nothing.
func (p *progress) since(lsn int64, now float64) (seconds float64, known bool) {
	for i, w := range p.written {
		if w.lsn > lsn {
			return max(now-w.at, 0), p.looked || i > 0
		}
	}
	return 0, p.looked
}

// lag is how far a standby is behind what its sender wrote. It is zero only for one that has applied all
// of that. What it has not applied is as old as the change that it applied last, if it has applied one
// since the look before; otherwise that may have been long ago, because nobody wrote. Then the lag
// is the time since which a look has seen something that is not applied. The first look does not
// know that.
func (r *reader) lag(t *told) (seconds *float64, bytes *int64) {
	_, end := t.end()
	if end == nil || t.Replayed == nil {
		return nil, nil
	}
	behind, lag := max(*end-*t.Replayed, 0), 0.0
	if behind == 0 {
		return &lag, &behind
	}
	most := math.Inf(1)
	if t.ReplayedAt != nil && r.progress.ahead != nil {
		most = max(t.Now-*r.progress.ahead-*t.ReplayedAt, 0)
	}
	lag, known := r.progress.since(*t.Replayed, t.Now)
	moved := r.progress.applied != nil && t.ReplayedAt != nil && *t.ReplayedAt != *r.progress.applied
	switch {
	case moved && !math.IsInf(most, 1), !known && most <= surely:
		lag = max(lag, most)
	case !known:
		return nil, &behind
	}
	return &lag, &behind
}

// lagOfPeer is how far one that follows the server is behind, in seconds. One that is paused keeps the
// lag that it reported last, so the time since which the server has been beyond its position counts, if
// that is longer. nil: it reports none, and no earlier look saw how long it is.
func (r *reader) lagOfPeer(t *told, behind int64, reported *float64) *float64 {
	lag := 0.0
	if behind == 0 {
		return &lag
	}
	if t.LSN == nil {
		return reported
	}
	lag, _ = r.progress.since(*t.LSN-behind, t.Now)
	switch {
	case reported != nil:
		lag = max(lag, *reported)
	case lag == 0:
		return nil
	}
	return &lag
}
