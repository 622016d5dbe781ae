package codec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/measurements/waitclass"
)

// Names of a combination, the places in Combination.Names.
const (
	NameEvent     = iota
	NameStatement // HashStatement
	NameUser
	NameApplication
	NameClient
	combinationNames // how many there are
)

// dimensionOf is what the names at a place are of, but for statements.
var dimensionOf = [combinationNames]measurements.Dimension{
	NameEvent: measurements.DimWaitEvent, NameUser: measurements.DimUser,
	NameApplication: measurements.DimApplication, NameClient: measurements.DimClient,
}

// NamePlace is the place of a dimension's names.
func NamePlace(of measurements.Dimension) int {
	if of == measurements.DimStatement {
		return NameStatement
	}
	return slices.Index(dimensionOf[:], of)
}

// Combination is what some sessions of a database have in common: their state, the category of
// their wait (waitclass.Categories: none, they are on the CPU), and the hashes of their names.
type Combination struct {
	Database        uuid.UUID
	State, Category byte
	Names           [combinationNames]uint64
}

// OnCPU says whether its sessions are on the CPU.
func (c *Combination) OnCPU() bool { return c.Category == waitclass.Categories }

// StateOf is the state of its sessions.
func (c *Combination) StateOf() measurements.State { return measurements.States()[c.State] }

// Key is its value of a dimension, on an instance.
func (c *Combination) Key(instance uuid.UUID, by measurements.Dimension) (key measurements.ActivityKey) {
	class := int(c.Category)
	if c.OnCPU() {
		class = measurements.ClassOnCPU
	}
	switch by {
	case measurements.DimState:
		return measurements.ActivityKey{State: c.StateOf()}
	case measurements.DimWaitClass:
		return measurements.ActivityKey{Class: class}
	case measurements.DimInstance:
		return measurements.ActivityKey{Instance: instance}
	case measurements.DimDatabase:
		return measurements.ActivityKey{Instance: instance, Database: c.Database}
	case measurements.DimWaitEvent, measurements.DimStatement, measurements.DimUser, measurements.DimApplication, measurements.DimClient:
	}
	switch name := c.Names[NamePlace(by)]; {
	case name == measurements.RestHash:
		return measurements.ActivityKey{Rest: true}
	case by == measurements.DimWaitEvent:
		return measurements.ActivityKey{Class: class, Name: name}
	case by != measurements.DimStatement:
		return measurements.ActivityKey{Name: name}
	case name != 0:
		return measurements.ActivityKey{Instance: instance, Database: c.Database, Statement: name}
	}
	return measurements.ActivityKey{}
}

// rest is what is kept of it if it is one of too many.
func (c *Combination) rest() Combination {
	out := Combination{Database: c.Database, State: c.State, Category: c.Category}
	for i := range out.Names {
		out.Names[i] = measurements.RestHash
	}
	return out
}

func compareCombinations(a, b Combination) int {
	return cmp.Or(bytes.Compare(a.Database[:], b.Database[:]), cmp.Compare(a.State, b.State), cmp.Compare(a.Category, b.Category),
		slices.Compare(a.Names[:], b.Names[:]))
}

// CombinationOf is what sessions have in common.
func CombinationOf(s *measurements.SessionSample, d measurements.Doing, names measurements.NameKey) Combination {
	c := Combination{Database: s.Database, State: byte(max(slices.Index(measurements.States(), d.State), 0)), Category: waitclass.Categories}
	if category, waits := measurements.Classify(s.Engine, d.Wait); waits {
		c.Category = byte(category)
	}
	if d.Statement != "" {
		c.Names[NameStatement] = max(measurements.HashStatement(s.Database, d.Statement), measurements.RestHash+1)
	}
	for place, of := range dimensionOf {
		if of.Named() {
			c.Names[place] = names.Hash(of, d.Name(of))
		}
	}
	return c
}

// doing are numbers of sessions by what they do.
type doing map[Combination]uint64

// fewer leaves so many combinations of each database, those with the most sessions, and adds the
// others up by their state and category. What was added up before is not counted, and stays: fewer
// of fewer is the same.
func (d doing) fewer() doing {
	if len(d) <= measurements.MaxDoings {
		return d
	}
	order := d.combinations()
	slices.SortStableFunc(order, func(a, b Combination) int { return cmp.Compare(d[b], d[a]) })
	kept, taken := make(doing, len(d)), make(map[uuid.UUID]int)
	for _, c := range order {
		switch rest := c.rest(); {
		case c == rest || taken[c.Database] == measurements.MaxDoings:
			kept[rest] += d[c]
		default:
			kept[c] += d[c]
			taken[c.Database]++
		}
	}
	return kept
}

func (d doing) combinations() []Combination {
	all := make([]Combination, 0, len(d))
	for c := range d {
		all = append(all, c)
	}
	slices.SortFunc(all, compareCombinations)
	return all
}

// appendNames writes the different names of combinations in order, and returns their places from 1
// on; a name that is not known has place 0.
func appendNames(out []byte, all []Combination) (_ []byte, places map[uint64]uint64) {
	var names []uint64
	for i := range all {
		for _, name := range all[i].Names {
			if name != 0 {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	places = make(map[uint64]uint64, len(names))
	out = binary.AppendUvarint(out, uint64(len(names)))
	for i, name := range names {
		out = binary.BigEndian.AppendUint64(out, name)
		places[name] = uint64(i) + 1
	}
	return out, places
}

// names reads what appendNames wrote, with nothing in front.
func (r *reader) names() []uint64 {
	names := make([]uint64, 1, r.Count(8)+1)
	for range cap(names) - 1 {
		names = append(names, r.Uint64())
	}
	return names
}

// states is by how much a state is multiplied in the byte that it shares with a category.
const states = 8

func appendCombination(out []byte, c *Combination, places map[uint64]uint64) []byte {
	out = append(out, c.State*states+c.Category)
	for _, name := range c.Names {
		out = binary.AppendUvarint(out, places[name])
	}
	return out
}

// combination is one of appendCombination; its least size is 1 + combinationNames.
func (r *reader) combination(database uuid.UUID, names []uint64) Combination {
	b := r.Byte()
	c := Combination{Database: database, State: b / states, Category: b % states}
	if c.Category > waitclass.Categories || int(c.State) >= len(measurements.States()) {
		r.Fail()
	}
	for i := range c.Names {
		place := r.Uvarint()
		if place >= uint64(len(names)) {
			r.Fail()
			break
		}
		c.Names[i] = names[place]
	}
	return c
}

// Bits of what a body of activity tells of a database.
const (
	toldCPU       = 1 << iota // its sessions on the CPU are in it
	toldDeadlocks             // and so are its deadlocks, whose number follows
)

// appendActivity writes what a body of activity has of a database: its id, what it tells, and its
// combinations, each with its sessions.
func appendActivity(body []byte, s *measurements.SessionSample, key measurements.NameKey) []byte {
	all, tellsCPU := s.Activity()
	sums := make(doing, len(all))
	for _, d := range all {
		sums[CombinationOf(s, d, key)] += uint64(d.Sessions)
	}
	sums = sums.fewer()
	order := sums.combinations()
	body = append(body, s.Database[:]...)
	told := byte(0)
	if tellsCPU {
		told |= toldCPU
	}
	if s.Deadlocks != nil {
		told |= toldDeadlocks
	}
	if body = append(body, told); s.Deadlocks != nil {
		body = binary.AppendUvarint(body, uint64(max(*s.Deadlocks, 0)))
	}
	body, places := appendNames(body, order)
	body = binary.AppendUvarint(body, uint64(len(order)))
	for i := range order {
		body = binary.AppendUvarint(appendCombination(body, &order[i], places), sums[order[i]])
	}
	return body
}

// nextActivity reads what stands behind the id, and hands each combination to take. The samples
// that it returns are what the body counts as.
func nextActivity(r *reader, database uuid.UUID, take func(Combination, uint64)) (n Samples) {
	told := r.Byte()
	n.Told = uint64(told & toldCPU)
	if told&toldDeadlocks != 0 {
		n.Counting, n.Deadlocks = 1, r.Uvarint()
	}
	names := r.names()
	for range r.Count(2 + combinationNames) {
		c, sessions := r.combination(database, names), r.Uvarint()
		if r.Bad() {
			break
		}
		if !c.OnCPU() && sessions > 0 {
			n.Waiting = 1
		}
		if take != nil {
			take(c, sessions)
		}
	}
	return n
}

// Samples are how many samples of a database a bucket has: in how many a session waits, which
// the averages of waits are over, in how many sessions on the CPU are counted, and in how many
// deadlocks are; and how many of those there were.
type Samples struct{ Waiting, Told, Counting, Deadlocks uint64 }

// ActivitySlot is a bucket's data for the databases of an instance; nil without samples.
type ActivitySlot struct {
	databases map[uuid.UUID]Samples
	sums      doing
}

func (s *ActivitySlot) count(database uuid.UUID, n Samples) {
	if n == (Samples{}) {
		return
	}
	sum := s.databases[database]
	s.databases[database] = Samples{sum.Waiting + n.Waiting, sum.Told + n.Told, sum.Counting + n.Counting, sum.Deadlocks + n.Deadlocks}
}

func newActivitySlot() *ActivitySlot {
	return &ActivitySlot{databases: map[uuid.UUID]Samples{}, sums: doing{}}
}

// ActivityRow is a row of slots, as they are stored: the databases, names and combinations of all
// slots once, and then the slots, which refer to them.
type ActivityRow struct {
	Databases    []uuid.UUID
	Combinations []Combination
	of           []int // the database of each combination, its place
	slots        [][]byte
}

// ReadActivityRow reads a row up to its slots. It refers to the row's bytes.
func ReadActivityRow(row []byte) (a ActivityRow, err error) {
	if len(row) == 0 {
		return a, nil
	}
	r := read(row)
	a.Databases = make([]uuid.UUID, r.Count(len(uuid.UUID{})))
	for i := range a.Databases {
		a.Databases[i] = r.UUID()
	}
	names := r.names()
	n := r.Count(2 + combinationNames)
	a.Combinations, a.of = make([]Combination, n), make([]int, n)
	for i := range n {
		of := r.Uvarint()
		if of >= uint64(len(a.Databases)) {
			return a, rowbytes.ErrBytes
		}
		a.of[i] = int(of)
		a.Combinations[i] = r.combination(a.Databases[of], names)
	}
	if r.Bad() {
		return a, rowbytes.ErrBytes
	}
	a.slots, err = rowbytes.SlotsOf(r.Bytes, 0)
	return a, err
}

// each hands the samples of the databases and then the sums of the combinations of a slot to
// their takers, by their places.
func (a *ActivityRow) each(i int, samples func(database int, n Samples), sum func(combination int, n uint64)) (sampled bool, err error) {
	if i >= len(a.slots) || len(a.slots[i]) == 0 {
		return false, nil
	}
	r := read(a.slots[i])
	for range r.Count(5) {
		database, n := r.Uvarint(), Samples{r.Uvarint(), r.Uvarint(), r.Uvarint(), r.Uvarint()}
		if database >= uint64(len(a.Databases)) || r.Bad() {
			return false, rowbytes.ErrBytes
		}
		samples(int(database), n)
	}
	for at := uint64(0); len(r.Bytes) > 0; at++ {
		skip, n := r.Uvarint(), r.Uvarint()
		if at += skip; at >= uint64(len(a.Combinations)) || r.Bad() {
			return false, rowbytes.ErrBytes
		}
		sum(int(at), n)
	}
	return true, r.End()
}

// Slot is slot i by itself; nil: there is none.
func (a *ActivityRow) Slot(i int) (*ActivitySlot, error) {
	s := newActivitySlot()
	sampled, err := a.each(i, func(database int, n Samples) { s.count(a.Databases[database], n) },
		func(combination int, n uint64) { s.sums[a.Combinations[combination]] += n })
	if !sampled {
		s = nil
	}
	return s, err
}

// Average is the average number of sessions of a combination, by its place.
type Average struct {
	Combination int
	Sessions    float64
}

// Averages reads the averages of the slots of a row, one slot at a time. A day of 1,000 servers has
// a million slots: it makes nothing anew for each.
type Averages struct {
	row     *ActivityRow
	samples []Samples // of each database, in the slot
	found   []Average
}

// Averages begins to read the slots.
func (a *ActivityRow) Averages() Averages {
	return Averages{row: a, samples: make([]Samples, len(a.Databases))}
}

// Of returns the averages of a slot, which are good until the next call.
func (a *Averages) Of(slot int) (found []Average, sampled, told bool, err error) {
	clear(a.samples)
	a.found = a.found[:0]
	sampled, err = a.row.each(slot, func(database int, n Samples) {
		a.samples[database] = n
		told = told || n.Told > 0
	}, func(i int, n uint64) {
		a.found = append(a.found, Average{i, a.samples[a.row.of[i]].average(&a.row.Combinations[i], n)})
	})
	return a.found, sampled, told, err
}

// average is what a sum of sessions comes to: over all samples that tell of the CPU, or over those
// in which a session waits.
func (s Samples) average(c *Combination, sum uint64) float64 {
	if c.OnCPU() {
		return float64(sum) / float64(max(s.Told, 1))
	}
	return float64(sum) / float64(max(s.Waiting, 1))
}

// EachSamples hands what a slot has of each database to take.
func (a *ActivityRow) EachSamples(slot int, take func(database uuid.UUID, n Samples)) (sampled bool, err error) {
	return a.each(slot, func(database int, n Samples) { take(a.Databases[database], n) }, func(int, uint64) {})
}

// EachSum hands the samples of the databases and then the sums of the combinations of a slot, by
// their places, to their takers.
func (a *ActivityRow) EachSum(slot int, samples func(database uuid.UUID, n Samples), sum func(combination int, n uint64)) (sampled bool, err error) {
	return a.each(slot, func(database int, n Samples) { samples(a.Databases[database], n) }, sum)
}

// Add adds another bucket's data.
func (s *ActivitySlot) Add(o *ActivitySlot) {
	for database, samples := range o.databases {
		s.count(database, samples)
	}
	for c, sessions := range o.sums {
		s.sums[c] += sessions
	}
}

// decodeActivity returns the slots of a row, at least n of them.
func decodeActivity(row []byte, n int) ([]*ActivitySlot, error) {
	a, err := ReadActivityRow(row)
	if err != nil {
		return nil, err
	}
	slots := make([]*ActivitySlot, max(n, len(a.slots)))
	for i := range a.slots {
		if slots[i], err = a.Slot(i); err != nil {
			return nil, err
		}
	}
	return slots, nil
}

// encodeActivity writes a row, of each slot the combinations with the most sessions.
func encodeActivity(slots []*ActivitySlot) []byte {
	databases, all := map[uuid.UUID]bool{}, doing{}
	sums := make([]doing, len(slots))
	for i, s := range slots {
		if s == nil {
			continue
		}
		for id := range s.databases {
			databases[id] = true
		}
		sums[i] = s.sums.fewer()
		for c := range sums[i] {
			databases[c.Database], all[c] = true, 1
		}
	}
	ids := sortedIDs(databases)
	place := make(map[uuid.UUID]uint64, len(ids))
	row := binary.AppendUvarint(nil, uint64(len(ids)))
	for i, id := range ids {
		place[id] = uint64(i)
		row = append(row, id[:]...)
	}
	order := all.combinations()
	row, names := appendNames(row, order)
	row = binary.AppendUvarint(row, uint64(len(order)))
	for i := range order {
		row = appendCombination(binary.AppendUvarint(row, place[order[i].Database]), &order[i], names)
	}
	encoded := make([][]byte, len(slots))
	for i, s := range slots {
		if s != nil {
			encoded[i] = s.encode(ids, place, order, sums[i])
		}
	}
	of := rowbytes.RowOf(encoded)
	if of == nil {
		return nil
	}
	return append(row, of...)
}

func (s *ActivitySlot) encode(ids []uuid.UUID, place map[uuid.UUID]uint64, order []Combination, sums doing) []byte {
	out := binary.AppendUvarint(nil, uint64(len(s.databases)))
	for _, id := range ids {
		if n, there := s.databases[id]; there {
			for _, number := range []uint64{place[id], n.Waiting, n.Told, n.Counting, n.Deadlocks} {
				out = binary.AppendUvarint(out, number)
			}
		}
	}
	skipped := uint64(0)
	for i := range order {
		n, there := sums[order[i]]
		if !there {
			skipped++
			continue
		}
		out = binary.AppendUvarint(binary.AppendUvarint(out, skipped), n)
		skipped = 0
	}
	return out
}

// activityKind is the kind of series of what sessions do.
type activityKind struct{ withoutDetails }

func (activityKind) Merge(stored, arrived []byte) ([]byte, bool, error) {
	return mergeDatabases(stored, arrived, func(r *reader) { nextActivity(r, uuid.UUID{}, nil) })
}

func (activityKind) Roll(_ fleet.Engine, hour time.Time, dirty uint64, samples []Sample, minutes, _ []byte) (rolled, _ []byte, err error) {
	row, err := decodeActivity(minutes, MinutesOfHour)
	if err != nil {
		return nil, nil, err
	}
	err = rollSlots(row, hour, dirty, samples, func(slot **ActivitySlot, body []byte) error {
		if *slot == nil {
			*slot = newActivitySlot()
		}
		return (*slot).addSample(body)
	})
	if err != nil {
		return nil, nil, err
	}
	return encodeActivity(row), nil, nil
}

func (s *ActivitySlot) addSample(body []byte) error {
	for r := read(body); len(r.Bytes) > 0; {
		database := r.UUID()
		n := nextActivity(&r, database, func(c Combination, sessions uint64) { s.sums[c] += sessions })
		if r.Bad() {
			return rowbytes.ErrBytes
		}
		s.count(database, n)
	}
	return nil
}

func (activityKind) Total(_ fleet.Engine, row []byte, n int, _ []byte) ([]byte, error) {
	slots, err := decodeActivity(row, n)
	if err != nil {
		return nil, err
	}
	var sum *ActivitySlot
	for _, slot := range slots[:n] {
		if slot == nil {
			continue
		}
		if sum == nil {
			sum = newActivitySlot()
		}
		sum.Add(slot)
	}
	return encodeActivity([]*ActivitySlot{sum}), nil
}

func (activityKind) Slot(row []byte, i int) ([]byte, error) {
	a, err := ReadActivityRow(row)
	if err != nil {
		return nil, err
	}
	slot, err := a.Slot(i)
	return encodeActivity([]*ActivitySlot{slot}), err
}

func (activityKind) Set(row []byte, i int, slot []byte) ([]byte, error) {
	slots, err := decodeActivity(row, i+1)
	if err != nil {
		return nil, err
	}
	one, err := decodeActivity(slot, 1)
	if err != nil {
		return nil, err
	}
	slots[i] = one[0]
	return encodeActivity(slots), nil
}
