package alert

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// textDigest stands for title, description and rule, which are compared and
// never read: eight bytes of SHA-256.
type textDigest [8]byte

func digestTexts(d Details) textDigest {
	h := sha256.New()
	write := func(s string) { _, _ = fmt.Fprintf(h, "%d:%s", len(s), s) }
	write(d.Title)
	write(d.Description)
	if r := d.Rule; r != nil {
		write(r.ID)
		write(r.Name)
		write(r.Unit)
		if r.Threshold != nil {
			write(strconv.FormatFloat(*r.Threshold, 'g', -1, 64))
		}
	}
	return textDigest(h.Sum(nil)[:8])
}

// The form of a memento: its number, the state and the severity as places in
// their lists, flags, the digest of the texts, two ids, and times in
// microseconds since 1970.
const (
	mementoForm = 2
	mementoSize = 4 + len(textDigest{}) + 2*16 + 7*8

	flagMuted   = 1 // 2 is one of older programs
	flagLimited = 4
)

// Memento is everything about the alert that its next decisions depend on, but
// for its key: it stands beside that, so that they need no stream.
func (a *Alert) Memento() []byte {
	m := make([]byte, 0, mementoSize)
	m = append(m, mementoForm, byte(slices.Index(States(), a.state)+1), byte(slices.Index(Severities(), a.severity)+1), a.flags())
	m = append(m, a.texts[:]...)
	m = append(m, a.instance[:]...)
	m = append(m, a.database[:]...)
	for _, t := range a.times() {
		m = binary.BigEndian.AppendUint64(m, uint64(micros(*t)))
	}
	return m
}

// Recall is the alert of a memento. ok is false where it has another form than
// this release writes, and the alert has to be folded from its events.
func Recall(key string, m []byte) (a Alert, ok bool) {
	if len(m) != mementoSize || m[0] != mementoForm {
		return Alert{}, false
	}
	state, severity := int(m[1])-1, int(m[2])-1
	if state < 0 || state >= len(States()) || severity < 0 || severity >= len(Severities()) {
		return Alert{}, false
	}
	a = Alert{
		key: key, state: States()[state], severity: Severities()[severity],
		muted: m[3]&flagMuted != 0, limited: m[3]&flagLimited != 0,
	}
	rest := m[4:]
	rest = rest[copy(a.texts[:], rest):]
	rest = rest[copy(a.instance[:], rest):]
	rest = rest[copy(a.database[:], rest):]
	for i, t := range a.times() {
		*t = fromMicros(int64(binary.BigEndian.Uint64(rest[8*i:])))
	}
	return a, true
}

func (a *Alert) times() []*time.Time {
	return []*time.Time{&a.created, &a.first, &a.last, &a.started, &a.after, &a.resolved, &a.until}
}

func (a *Alert) flags() (flags byte) {
	if a.muted {
		flags |= flagMuted
	}
	if a.limited {
		flags |= flagLimited
	}
	return flags
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return t.UnixMicro()
}

func fromMicros(m int64) time.Time {
	if m == math.MinInt64 {
		return time.Time{}
	}
	return time.UnixMicro(m).UTC()
}
