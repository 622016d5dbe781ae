package measure

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"muster/internal/measurements/room"
	"muster/internal/servers"
)

// Rotation says which of many have their turn, if a look goes into few of them: those that had it longest ago.
type Rotation struct{ order []string }

// Next are at most so many of the names, which are all that there are. New ones come first.
func (r *Rotation) Next(names []string, most int) []string {
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	r.order = slices.DeleteFunc(r.order, func(name string) bool { return !there[name] })
	for _, name := range r.order {
		delete(there, name)
	}
	var added []string
	for _, name := range names {
		if there[name] {
			added = append(added, name)
		}
	}
	r.order = append(added, r.order...)
	turn := slices.Clone(r.order[:min(most, len(r.order))])
	r.order = append(r.order[len(turn):], turn...)
	return turn
}

// Again has a name be next once more.
func (r *Rotation) Again(name string) {
	r.order = slices.Insert(slices.DeleteFunc(r.order, func(one string) bool { return one == name }), 0, name)
}

// RoomPart is a part of a look at how full a server is. Denied is the grant without which it cannot be read.
type RoomPart struct {
	Name   string // such as "Volumes"
	Read   func() error
	Denied string
}

// ReadRoom reads the parts of a look. What cannot be read is left out, and said so; nothing else is missing with it,
// unless the connection is lost. A driver may give the connection up after a statement that took too long: what was read
// before stays, and the parts behind it are left out, too.
func ReadRoom(s *room.State, l *Line, parts ...RoomPart) (*room.State, error) {
	var failed error
	leave := func(of RoomPart) { s.Left = append(s.Left, of.Name+" could not be read at this look.") }
	for i, part := range parts {
		err := part.Read()
		switch closed := l.Closed(); {
		case err == nil:
		case closed && (i == 0 || servers.ReasonOf(err) != servers.TimedOut):
			return nil, err
		case closed:
			for _, left := range parts[i:] {
				leave(left)
			}
			return s, errors.Join(failed, err)
		case servers.ReasonOf(err) == servers.Denied && part.Denied != "":
			s.Denied = append(s.Denied, part.Denied)
		default:
			leave(part)
			failed = errors.Join(failed, err)
		}
	}
	return s, failed
}

// Numbers reads numbers as a server writes them, of which none is below zero. Of another, it returns ErrNonsense.
func Numbers(texts ...string) ([]float64, error) {
	read := make([]float64, len(texts))
	for i, text := range texts {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			return nil, ErrNonsense
		}
		read[i] = n
	}
	return read, nil
}
