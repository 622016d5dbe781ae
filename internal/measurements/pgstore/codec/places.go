package codec

// The places of slots in rows: a day's row holds its hours and the rest of it, a week's row
// its days, itself, and its rest.
const (
	RestOfDay  = 24
	WeekItself = 7
	RestOfWeek = 8
)

// CopySlot returns a row with a slot of another one.
func CopySlot(k Kind, from []byte, i int, to []byte, j int) ([]byte, error) {
	slot, err := k.Slot(from, i)
	if err != nil || slot == nil {
		return to, err
	}
	return k.Set(to, j, slot)
}
