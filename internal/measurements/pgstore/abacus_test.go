package pgstore

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/domain/fleet"
	"muster/internal/measurements/pgstore/codec"
)

// abacus is a kind that counts, in three ways: hosts have counters, whose intervals
// count where they end; sessions have numbers; statements have numbers of parts, whose
// largest sum is the maximum, so that it cannot be made of smaller buckets'. It is how
// the tests of the engine know by heart what must come out.
type abacus struct {
	name  string
	fault func(step string) error // nil: nothing fails
}

const lookBack = 10 * time.Minute

// amounts are what a bucket comes to.
type amounts struct{ sum, samples, most int64 }

func (t *abacus) fail(step string) error {
	if t.fault == nil {
		return nil
	}
	return t.fault(step)
}

func (t *abacus) Reach() time.Duration {
	if t.name == codec.Hosts {
		return lookBack
	}
	return 0
}

func (t *abacus) Whole() bool { return t.name == codec.Statements }

func (t *abacus) Merge(stored, arrived []byte) ([]byte, bool, error) {
	merged := parts(arrived)
	maps.Copy(merged, parts(stored))
	return pack(merged), len(merged) > len(parts(stored)), t.fail("merge")
}

func (t *abacus) Roll(_ fleet.Engine, hour time.Time, dirty uint64, samples []codec.Sample, row, _ []byte) (rolled, detail []byte, err error) {
	all := map[int64]int64{}
	for minute := range codec.MinutesOfHour {
		start := hour.Add(time.Duration(minute) * time.Minute)
		if dirty>>minute&1 == 1 {
			row, _ = t.Set(row, minute, t.of(samples, start, start.Add(time.Minute)).bytes())
		}
	}
	for _, s := range samples {
		addSessions(all, s.Body)
	}
	if t.name == codec.Statements {
		detail = pack(all)
	}
	return row, detail, t.fail("roll")
}

// of is brute force: the result of a bucket's samples.
func (t *abacus) of(samples []codec.Sample, from, to time.Time) (a amounts) {
	inside := map[int64]int64{}
	for i, s := range samples {
		if s.At.Before(from) || !s.At.Before(to) {
			continue
		}
		switch t.name {
		case codec.Hosts:
			a.samples++
			if i > 0 && s.At.Sub(samples[i-1].At) <= lookBack {
				a.most = max(a.most, parts(s.Body)[0]-parts(samples[i-1].Body)[0])
				a.sum += parts(s.Body)[0] - parts(samples[i-1].Body)[0]
			}
		default:
			addSessions(inside, s.Body)
			a.samples++
		}
	}
	if t.name == codec.Hosts {
		return a
	}
	b := sumOf(inside)
	if t.name == codec.Sessions {
		b.samples, b.most = a.samples, 0
	}
	return b
}

func (t *abacus) Join(details [][]byte) ([]byte, error) {
	all := map[int64]int64{}
	for _, d := range details {
		addSessions(all, d)
	}
	return pack(all), t.fail("join")
}

func (t *abacus) OfDetails() bool { return t.name == codec.Statements }

func (t *abacus) Total(_ fleet.Engine, row []byte, n int, detail []byte) ([]byte, error) {
	if detail != nil {
		return sumOf(parts(detail)).bytes(), t.fail("total")
	}
	var a amounts
	for i := range n {
		slot, _ := t.Slot(row, i)
		if slot == nil {
			continue
		}
		b := amountsOf(slot)
		a = amounts{a.sum + b.sum, a.samples + b.samples, max(a.most, b.most)}
	}
	return a.bytes(), t.fail("total")
}

const abacusSlot = 25 // whether there is one, and three numbers

func (t *abacus) Slot(row []byte, i int) ([]byte, error) {
	if len(row) < (i+1)*abacusSlot || row[i*abacusSlot] == 0 {
		return nil, nil
	}
	return row[i*abacusSlot : (i+1)*abacusSlot], nil
}

func (t *abacus) Set(row []byte, i int, slot []byte) ([]byte, error) {
	if len(slot) != abacusSlot {
		return nil, fmt.Errorf("a slot of %d bytes", len(slot))
	}
	set := make([]byte, max(len(row), (i+1)*abacusSlot))
	copy(set, row)
	copy(set[i*abacusSlot:], slot)
	return set, nil
}

func (a amounts) bytes() []byte {
	b := []byte{1}
	for _, n := range []int64{a.sum, a.samples, a.most} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func amountsOf(slot []byte) amounts {
	n := func(i int) int64 { return int64(binary.BigEndian.Uint64(slot[1+8*i:])) }
	return amounts{n(0), n(1), n(2)}
}

func sumOf(of map[int64]int64) (a amounts) {
	for _, n := range of {
		a.sum, a.most = a.sum+n, max(a.most, n)
	}
	return a
}

// pack and parts write and read numbers by part.
func pack(of map[int64]int64) []byte {
	b := []byte{}
	for _, part := range slices.Sorted(maps.Keys(of)) {
		b = binary.BigEndian.AppendUint64(b, uint64(part))
		b = binary.BigEndian.AppendUint64(b, uint64(of[part]))
	}
	return b
}

func parts(body []byte) map[int64]int64 {
	of := map[int64]int64{}
	addSessions(of, body)
	return of
}

func addSessions(to map[int64]int64, body []byte) {
	for ; len(body) > 0; body = body[16:] {
		to[int64(binary.BigEndian.Uint64(body))] += int64(binary.BigEndian.Uint64(body[8:]))
	}
}
