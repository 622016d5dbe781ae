package alert

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
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
// their lists, flags, which of the parts there are (a bit each, the first the lowest), the digest
// of the texts, and those parts: three ids, and times in microseconds since 1970. The form
// before it has no such bits, two ids, and all times, an absent one as the least number.
const (
	mementoForm = 3
	formBefore  = 2
	sizeBefore  = 4 + len(textDigest{}) + 2*16 + 7*8

	flagMuted   = 1 // 2 is one of older programs
	flagLimited = 4
)

// Memento is everything about the alert that its next decisions depend on, but
// for its key: it stands beside that, so that they need no stream. There is one of every
// alert for good, so that what is absent takes no room.
func (a *Alert) Memento() []byte {
	var parts uint16
	var rest []byte
	for i, id := range a.ids() {
		if *id != uuid.Nil {
			parts |= 1 << i
			rest = append(rest, id[:]...)
		}
	}
	for i, t := range a.times() {
		if !t.IsZero() {
			parts |= 1 << (len(a.ids()) + i)
			rest = binary.BigEndian.AppendUint64(rest, uint64(t.UnixMicro()))
		}
	}
	m := []byte{mementoForm, byte(slices.Index(States(), a.state) + 1), byte(slices.Index(Severities(), a.severity) + 1), a.flags()}
	m = binary.BigEndian.AppendUint16(m, parts)
	m = append(m, a.texts[:]...)
	return append(m, rest...)
}

// Recall returns the alert of a memento. ok is false if its form is unknown to this release;
// the alert then has to be folded from its events.
func Recall(key string, m []byte) (a Alert, ok bool) {
	if len(m) < 4 || m[0] != mementoForm && m[0] != formBefore {
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
	if m[0] == formBefore {
		return a, a.recallBefore(m)
	}
	return a, a.recall(m[4:])
}

// recall reads what is behind the flags of this form.
func (a *Alert) recall(m []byte) bool {
	if len(m) < 2+len(a.texts) {
		return false
	}
	parts, rest := binary.BigEndian.Uint16(m), m[2:]
	rest = rest[copy(a.texts[:], rest):]
	for i, id := range a.ids() {
		if parts&(1<<i) == 0 {
			continue
		}
		if len(rest) < len(id) {
			return false
		}
		rest = rest[copy(id[:], rest):]
	}
	for i, t := range a.times() {
		if parts&(1<<(len(a.ids())+i)) == 0 {
			continue
		}
		if len(rest) < 8 {
			return false
		}
		*t, rest = fromMicros(int64(binary.BigEndian.Uint64(rest))), rest[8:]
	}
	return len(rest) == 0
}

// recallBefore reads what is behind the flags of the form before.
func (a *Alert) recallBefore(m []byte) bool {
	if len(m) != sizeBefore {
		return false
	}
	rest := m[4:]
	rest = rest[copy(a.texts[:], rest):]
	rest = rest[copy(a.instance[:], rest):]
	rest = rest[copy(a.database[:], rest):]
	for i, t := range a.times() {
		*t = fromMicros(int64(binary.BigEndian.Uint64(rest[8*i:])))
	}
	return true
}

// OpenStates are the values of a memento's second byte, in any form, of alerts that are open.
func OpenStates() (bytes []int32) {
	for i, s := range States() {
		if !s.Closed() {
			bytes = append(bytes, int32(i+1))
		}
	}
	return bytes
}

func (a *Alert) ids() []*uuid.UUID { return []*uuid.UUID{&a.instance, &a.database, &a.token} }

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

func fromMicros(m int64) time.Time {
	if m == math.MinInt64 {
		return time.Time{}
	}
	return time.UnixMicro(m).UTC()
}
