package codec

import "muster/internal/measurements/pgstore/rowbytes"

// reader reads the parts of rows and bodies, too.
type reader struct{ rowbytes.Reader }

func read(b []byte) reader { return reader{rowbytes.Reader{Bytes: b}} }

// addUpSlots is the sum of the first n slots of a row; none is that of no slot.
func addUpSlots[S interface{ encode() []byte }](row []byte, n int, none S, decode func(slot []byte) (S, error), add func(sum *S, one S)) ([]byte, error) {
	slots, err := rowbytes.SlotsOf(row, n)
	if err != nil {
		return nil, err
	}
	sum := none
	for _, slot := range slots[:n] {
		one, err := decode(slot)
		if err != nil {
			return nil, err
		}
		add(&sum, one)
	}
	return sum.encode(), nil
}

// slotRows is what kinds have in common whose rows are slots and nothing else.
type slotRows struct{}

func (slotRows) Slot(row []byte, i int) ([]byte, error) {
	slots, err := rowbytes.SlotsOf(row, i+1)
	if err != nil {
		return nil, err
	}
	return slots[i], nil
}

func (slotRows) Set(row []byte, i int, slot []byte) ([]byte, error) {
	slots, err := rowbytes.SlotsOf(row, i+1)
	if err != nil {
		return nil, err
	}
	slots[i] = slot
	return rowbytes.RowOf(slots), nil
}
