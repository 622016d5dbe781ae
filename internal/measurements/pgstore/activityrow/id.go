package activityrow

import (
	"encoding/binary"
	"math/bits"

	"github.com/google/uuid"

	"muster/internal/measurements"
	"muster/internal/measurements/waitclass"
)

// ID is the key of a line as its row has it, with zeros behind it: its parts, its class, and the
// parts themselves. A day of an organization has 70,000 lines, so readers add up by ids and make
// keys of the few that they show: a map of keys, whose states are strings, takes five times as long.
type ID [2 + 2*idSize + 8 + 8]byte

const idSize = len(uuid.UUID{})

// Parts of a key that an id has, in this order.
const (
	ofInstance = 1 << iota
	ofDatabase
	ofName
	ofStatement
	ofRest
	ofState
)

// written is how many bytes the parts of an id take.
func written(parts byte) int {
	return 2 + idSize*bits.OnesCount8(parts&(ofInstance|ofDatabase)) + 8*bits.OnesCount8(parts&(ofName|ofStatement))
}

// IDOf is the id of a key.
func IDOf(key measurements.ActivityKey) (id ID) {
	id[1] = byte(key.Class - waitclass.OnCPU)
	for state, name := range measurements.States() {
		if key.State == name {
			id[0] |= ofState
			id[1] |= byte(state) * states
		}
	}
	if key.Rest {
		id[0] |= ofRest
	}
	at := id[:2]
	if key.Instance != uuid.Nil {
		id[0] |= ofInstance
		at = append(at, key.Instance[:]...)
	}
	if key.Database != uuid.Nil {
		id[0] |= ofDatabase
		at = append(at, key.Database[:]...)
	}
	if key.Name != 0 {
		id[0] |= ofName
		at = binary.BigEndian.AppendUint64(at, key.Name)
	}
	if key.Statement != 0 {
		id[0] |= ofStatement
		binary.BigEndian.AppendUint64(at, key.Statement)
	}
	return id
}

// Key is the key that it is the id of.
func (id *ID) Key() (key measurements.ActivityKey) {
	r := read(id[2:])
	key.Rest, key.Class = id[0]&ofRest != 0, int(id[1]%states)+waitclass.OnCPU
	if id[0]&ofState != 0 {
		key.State = measurements.States()[id[1]/states]
	}
	if id[0]&ofInstance != 0 {
		key.Instance = r.UUID()
	}
	if id[0]&ofDatabase != 0 {
		key.Database = r.UUID()
	}
	if id[0]&ofName != 0 {
		key.Name = r.Uint64()
	}
	if id[0]&ofStatement != 0 {
		key.Statement = r.Uint64()
	}
	return key
}

// appendID writes the id of a line, and its state.
func (l *Line) appendID(row []byte) []byte {
	return append(append(row, l.ID[0], l.state*states+l.ID[1]%states), l.ID[2:written(l.ID[0])]...)
}

// lineID reads what appendID wrote.
func (r *reader) lineID(l *Line) {
	if len(r.Bytes) == 0 {
		r.Fail()
		return
	}
	b := r.Take(written(r.Bytes[0]))
	if b == nil {
		return
	}
	copy(l.ID[:], b)
	l.state = b[1] / states
	if int(b[1]%states)+waitclass.OnCPU >= waitclass.Categories || int(l.state) >= len(measurements.States()) {
		r.Fail()
	}
	if b[0]&ofState == 0 {
		l.ID[1] = b[1] % states
	}
}
