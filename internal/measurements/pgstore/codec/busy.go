package codec

import (
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
)

// A body of busy time: for each database whose server says how long it executed, its id,
// the time of its statements and that time.

func appendBusy(body []byte, s measurements.StatementSample) []byte {
	var attributed float64
	for _, one := range s.Statements {
		if one.Calls > 0 {
			attributed += one.TotalMs
		}
	}
	return rowbytes.AppendFloat(rowbytes.AppendFloat(append(body, s.Database[:]...), attributed), *s.BusyMs)
}

// skipBusy reads over what a body has of a database behind its id.
func skipBusy(r *reader) { r.Take(16) }

// BusyOf leaves of a body of busy time the databases that are in.
func BusyOf(body []byte, in func(database uuid.UUID) bool) (left []byte, err error) {
	err = eachDatabase(body, skipBusy, func(database uuid.UUID, part []byte) {
		if in(database) {
			left = append(left, part...)
		}
	})
	return left, err
}

// BusySlot is what a bucket has of an instance's executing time, in ms.
type BusySlot struct {
	Sampled          bool
	Attributed, Busy float64 // of its statements, and by the server's own count
}

// AddBusy adds what another bucket has.
func (s *BusySlot) AddBusy(o BusySlot) {
	s.Sampled = s.Sampled || o.Sampled
	s.Attributed += o.Attributed
	s.Busy += o.Busy
}

func (s BusySlot) encode() []byte {
	if !s.Sampled {
		return nil
	}
	return rowbytes.AppendShort(rowbytes.AppendShort(make([]byte, 0, 2*rowbytes.ShortSize), s.Attributed), s.Busy)
}

// DecodeBusySlot reads the slot of a bucket.
func DecodeBusySlot(slot []byte) (BusySlot, error) {
	if len(slot) == 0 {
		return BusySlot{}, nil
	}
	r := read(slot)
	s := BusySlot{true, r.Short(), r.Short()}
	return s, r.End()
}

// busyKind is the kind of busy time's series.
type busyKind struct {
	slotRows
	withoutDetails
}

func (busyKind) Merge(stored, arrived []byte) ([]byte, bool, error) {
	return mergeDatabases(stored, arrived, skipBusy)
}

func (busyKind) Roll(_ fleet.Engine, hour time.Time, dirty uint64, samples []Sample, minutes, _ []byte) (rolled, _ []byte, err error) {
	slots, err := rowbytes.SlotsOf(minutes, MinutesOfHour)
	if err != nil {
		return nil, nil, err
	}
	var sums [MinutesOfHour]BusySlot
	for _, s := range samples {
		minute, ok := minuteOf(hour, s.At)
		if !ok {
			continue
		}
		for r := read(s.Body); len(r.Bytes) > 0; {
			_ = r.UUID()
			sums[minute].AddBusy(BusySlot{true, r.Float(), r.Float()})
			if r.Bad() {
				return nil, nil, rowbytes.ErrBytes
			}
		}
	}
	for minute, sum := range sums {
		if dirty>>minute&1 != 0 {
			slots[minute] = sum.encode()
		}
	}
	return rowbytes.RowOf(slots), nil, nil
}

func (busyKind) Total(_ fleet.Engine, row []byte, n int, _ []byte) ([]byte, error) {
	return addUpSlots(row, n, BusySlot{}, DecodeBusySlot, (*BusySlot).AddBusy)
}
