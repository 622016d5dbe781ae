package codec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/measurements/waitclass"
)

// How a sample tells a figure, as it is written.
const (
	figureTold = iota
	figureNotTold
	figureDenied
	figureTellings // how many there are
)

// tellings are the states of a figure at their places.
var tellings = [figureTellings]measurements.Telling{measurements.Told, measurements.NotTold, measurements.Denied}

// firstFigures is how many figures programs knew that refuse rows with any other one.
const firstFigures = 11

// WithoutLaterFigures is a copy of samples with the figures that every program can read.
func WithoutLaterFigures(samples []measurements.ServerSample) []measurements.ServerSample {
	first := measurements.Figures()[:firstFigures]
	samples = slices.Clone(samples)
	for i := range samples {
		samples[i].Figures = slices.DeleteFunc(slices.Clone(samples[i].Figures), func(f measurements.ServerFigure) bool {
			return !slices.Contains(first, f.Figure)
		})
	}
	return samples
}

// figureKey is a figure by its place, and whose it is; the database is zero for the whole server.
type figureKey struct {
	figure   byte
	database uuid.UUID
}

// name is the figure's; ok is false of one that only a newer program knows.
func (k figureKey) name() (name measurements.Figure, ok bool) {
	all := measurements.Figures()
	if int(k.figure) >= len(all) {
		return "", false
	}
	return all[k.figure], true
}

func compareFigures(a, b figureKey) int {
	return cmp.Or(cmp.Compare(a.figure, b.figure), bytes.Compare(a.database[:], b.database[:]))
}

// holder is whose transaction is the oldest. Its database, state and names are a combination, whose
// sessions count as waiting for something else.
type holder struct {
	session string
	Combination
}

// FigureSum is what samples of a figure come to.
type FigureSum struct {
	counts  bool                   // the figure Counts: it is summed
	samples [figureTellings]uint64 // by how they tell it
	value   uint64                 // the greatest, or the sum
	over    uint64                 // microseconds that a sum was counted in
	holder  *holder                // of the greatest
}

// add adds later samples.
func (s *FigureSum) add(o FigureSum) {
	s.counts = o.counts
	for i, n := range o.samples {
		s.samples[i] += n
	}
	switch {
	case o.counts:
		s.value, s.over = s.value+o.value, s.over+o.over
	case o.samples[figureTold] > 0 && (s.samples[figureTold] == o.samples[figureTold] || o.value > s.value):
		s.value, s.holder = o.value, o.holder
	}
}

// Telling is how the bucket's samples told it: they did if one of them did.
func (s FigureSum) Telling() measurements.Telling {
	for i, n := range s.samples {
		if n > 0 {
			return tellings[i]
		}
	}
	return ""
}

// Value is the greatest or, of a figure that counts, how many there were, or how many a second; ok is
// false if nothing was told.
func (s FigureSum) Value(of measurements.Figure) (value float64, ok bool) {
	switch {
	case s.samples[figureTold] == 0 || of.Counts() && s.over == 0:
		return 0, false
	case of.PerSecond():
		return float64(s.value) / (time.Duration(s.over) * time.Microsecond).Seconds(), true
	}
	return float64(s.value), true
}

// Holder is whose transaction is the oldest; nil: nobody's, or it is not known.
func (s FigureSum) Holder() *measurements.HolderSeen {
	if s.holder == nil {
		return nil
	}
	return &measurements.HolderSeen{
		Session: s.holder.session, Database: s.holder.Database, State: s.holder.StateOf(), Statement: s.holder.Names[NameStatement],
		User: s.holder.Names[NameUser], Application: s.holder.Names[NameApplication], Client: s.holder.Names[NameClient],
	}
}

// figures are those of a bucket.
type figures map[figureKey]FigureSum

func (f figures) keys() []figureKey { return slices.SortedFunc(maps.Keys(f), compareFigures) }

// appendServer writes the body of a sample, which is a slot of one.
func appendServer(s *measurements.ServerSample, names measurements.NameKey) []byte {
	all := make(figures, len(s.Figures))
	for _, f := range s.Figures {
		place := slices.Index(measurements.Figures(), f.Figure)
		if place < 0 {
			continue
		}
		sum := FigureSum{counts: f.Figure.Counts(), value: uint64(max(f.Value, 0)), over: uint64(max(f.Interval.Microseconds(), 0)), holder: holderOf(f.Holder, names)}
		told := max(slices.Index(tellings[:], f.Telling), figureTold)
		sum.samples[told] = 1
		if told != figureTold {
			sum.value, sum.over, sum.holder = 0, 0, nil
		}
		key := figureKey{byte(place), f.Database}
		if _, again := all[key]; !again {
			all[key] = sum
		}
	}
	return all.encode()
}

func holderOf(h *measurements.Holder, names measurements.NameKey) *holder {
	if h == nil {
		return nil
	}
	clean := h.Clean()
	out := &holder{session: clean.Session, Combination: CombinationOf(&measurements.SessionSample{Database: h.Database}, clean.Doing, names)}
	out.Category, out.Names[NameEvent] = waitclass.Categories, 0
	return out
}

// encode writes figures: the names of their holders, and each figure. A figure of a database has
// that behind it.
func (f figures) encode() []byte {
	if len(f) == 0 {
		return nil
	}
	keys := f.keys()
	var holders []Combination
	for _, key := range keys {
		if h := f[key].holder; h != nil {
			holders = append(holders, h.Combination)
		}
	}
	out, places := appendNames(nil, holders)
	out = binary.AppendUvarint(out, uint64(len(keys)))
	for _, key := range keys {
		s := f[key]
		has := byte(0)
		if key.database != uuid.Nil {
			has |= hasDatabase
		}
		if s.holder != nil {
			has |= hasHolder
		}
		if s.counts {
			has |= isSum
		}
		out = append(out, key.figure, has)
		if key.database != uuid.Nil {
			out = append(out, key.database[:]...)
		}
		for _, n := range []uint64{s.samples[figureTold], s.samples[figureNotTold], s.samples[figureDenied], s.value, s.over} {
			out = binary.AppendUvarint(out, n)
		}
		if s.holder != nil {
			out = append(out, s.holder.Database[:]...)
			out = append(binary.AppendUvarint(out, uint64(len(s.holder.session))), s.holder.session...)
			out = appendCombination(out, &s.holder.Combination, places)
		}
	}
	return out
}

// What stands behind a figure, and whether it is summed. Rows from before isSum have figures that
// every program knows.
const (
	hasDatabase = 1 << iota
	hasHolder
	isSum
)

func decodeFigures(slot []byte) (figures, error) {
	if len(slot) == 0 {
		return nil, nil
	}
	r := read(slot)
	names := r.names()
	n := r.Count(7)
	all := make(figures, n)
	for range n {
		key, s := r.figure(names)
		if r.Bad() {
			break
		}
		all[key] = s
	}
	return all, r.End()
}

func (r *reader) figure(names []uint64) (key figureKey, s FigureSum) {
	key.figure = r.Byte()
	has := r.Byte()
	s.counts = has&isSum != 0
	if name, known := key.name(); known {
		s.counts = name.Counts()
	}
	if has&hasDatabase != 0 {
		key.database = r.UUID()
	}
	for _, n := range []*uint64{&s.samples[figureTold], &s.samples[figureNotTold], &s.samples[figureDenied], &s.value, &s.over} {
		*n = r.Uvarint()
	}
	if has&hasHolder != 0 {
		database := r.UUID()
		s.holder = &holder{session: string(r.Take(r.Count(1)))}
		s.holder.Combination = r.combination(database, names)
	}
	return key, s
}

// EachFigure hands the figures of a slot of a row to take, without those that only a newer program knows.
func EachFigure(slot []byte, take func(of measurements.FigureOf, s FigureSum)) error {
	all, err := decodeFigures(slot)
	for key, s := range all {
		if name, known := key.name(); known {
			take(measurements.FigureOf{Figure: name, Database: key.database}, s)
		}
	}
	return err
}

// FigureSlots are the slots of a row of figures.
func FigureSlots(row []byte) ([][]byte, error) { return rowbytes.SlotsOf(row, 0) }

// serverKind is the kind of series of what servers tell about themselves.
type serverKind struct {
	withoutDetails
	slotRows
}

// Merge keeps what is stored: a sample comes whole.
func (serverKind) Merge(stored, arrived []byte) ([]byte, bool, error) {
	if len(stored) > 0 {
		return stored, false, nil
	}
	return arrived, len(arrived) > 0, nil
}

func (serverKind) Roll(_ fleet.Engine, hour time.Time, dirty uint64, samples []Sample, minutes, _ []byte) (rolled, _ []byte, err error) {
	row, err := rowbytes.SlotsOf(minutes, MinutesOfHour)
	if err != nil {
		return nil, nil, err
	}
	sums := make([]figures, len(row))
	err = rollSlots(sums, hour, dirty, samples, func(slot *figures, body []byte) error { return slot.addSlot(body) })
	if err != nil {
		return nil, nil, err
	}
	for i := range MinutesOfHour {
		if dirty>>i&1 != 0 {
			row[i] = sums[i].encode()
		}
	}
	return rowbytes.RowOf(row), nil, nil
}

// addSlot adds another bucket's figures, or a later sample's.
func (f *figures) addSlot(slot []byte) error {
	more, err := decodeFigures(slot)
	if err != nil || more == nil {
		return err
	}
	if *f == nil {
		*f = make(figures, len(more))
	}
	for key, s := range more {
		sum := (*f)[key]
		sum.add(s)
		(*f)[key] = sum
	}
	return nil
}

func (serverKind) Total(_ fleet.Engine, row []byte, n int, _ []byte) ([]byte, error) {
	slots, err := rowbytes.SlotsOf(row, n)
	if err != nil {
		return nil, err
	}
	var sum figures
	for _, slot := range slots[:n] {
		if err := sum.addSlot(slot); err != nil {
			return nil, err
		}
	}
	return sum.encode(), nil
}
