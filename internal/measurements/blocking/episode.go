package blocking

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/postgres/statement"
)

// Gap is how long after a sample the next one still continues its episode. Whoever looks may
// have been away for a moment; what happened in a longer time nobody knows.
const Gap = 5 * time.Minute

// Held is what one sample says of who holds most sessions up.
type Held struct {
	Root   Node     `json:"root"`
	Behind int      `json:"behind"`          // sessions that wait for the root, by themselves or behind others
	Cycle  []string `json:"cycle,omitempty"` // see Root
	Roots  int      `json:"roots"`           // how many roots there are
	Lock   string   `json:"lock,omitempty"`  // what the first session waits for, as Node has it
	Mode   string   `json:"mode,omitempty"`
	Object string   `json:"object,omitempty"`
}

// Scan implements sql.Scanner.
func (h *Held) Scan(src any) error { return statement.ScanJSON(src, h) }

// Holding is what a sample's nodes say of who holds most of them up; nil: nobody waits.
func Holding(nodes []Node) *Held {
	roots := Roots(nodes)
	if len(roots) == 0 {
		return nil
	}
	wanted := Wanted(nodes, roots[0].Node)
	return &Held{
		Root: roots[0].Node, Behind: roots[0].Behind, Cycle: roots[0].Cycle, Roots: len(roots),
		Lock: wanted.Lock, Mode: wanted.Mode, Object: wanted.Object,
	}
}

// Episode is a time in which sessions of a server waited for each other.
type Episode struct {
	ID       uuid.UUID
	Instance uuid.UUID `db:"instance_id"`
	Advisory bool
	First    time.Time  `db:"first_at"`
	Last     time.Time  `db:"last_at"`
	Ended    *time.Time `db:"ended_at"`
	Waiting  int        // sessions, at most
	Peak     time.Time  `db:"peak_at"`
	Seconds  float64    // session-seconds
	Held     Held       `db:"root"`     // at the peak
	End      *End       `db:"ended_by"` // nil: it lasts, or that is not known
}

// To is when the episode ended; nil: it lasts. Where the end was not seen, because nobody looked
// any more, it is the last sample.
func (e *Episode) To(now time.Time) *time.Time {
	switch {
	case e.Ended != nil:
		return e.Ended
	case now.Sub(e.Last) > Gap:
		return &e.Last
	}
	return nil
}

// Seen is whether the end was seen.
func (e *Episode) Seen() bool { return e.Ended != nil }

// sampled is what is kept of a sample beside its tree.
type sampled struct {
	At      time.Time
	Waiting int
	Seconds float64
	Root    []byte // Held, as JSON
	End     *End   `db:"ended_by"`
}

// row is an episode as it is stored.
type row struct {
	ID      uuid.UUID  `db:"id"`
	First   time.Time  `db:"first_at"`
	Last    time.Time  `db:"last_at"`
	Ended   *time.Time `db:"ended_at"`
	Waiting int        `db:"waiting"`
	Peak    time.Time  `db:"peak_at"`
	Seconds float64    `db:"seconds"`
	Root    []byte     `db:"root"`
	End     *End       `db:"ended_by"`
}

// add takes in a sample in which somebody waits.
func (e *row) add(s sampled) {
	if e.First.IsZero() {
		e.First = s.At
	}
	e.Last, e.Ended, e.End = s.At, nil, nil
	e.Seconds += s.Seconds
	if s.Waiting > e.Waiting {
		e.Waiting, e.Peak, e.Root = s.Waiting, s.At, s.Root
	}
}

// end takes in a sample in which nobody waits any more.
func (e *row) end(s sampled) { e.Ended, e.End = &s.At, s.End }

// continues says whether a sample that is later belongs to the episode's time.
func (e *row) continues(at time.Time) bool { return e.Ended == nil && at.Sub(e.Last) <= Gap }

// fold makes episodes of samples, in the order of their times. before are the episodes that
// were made of some of them: what they had from samples that are not kept any more stays, and so
// do their ids.
func fold(samples []sampled, before []row) []row {
	var out []row
	for _, s := range samples {
		var open *row
		if len(out) > 0 && out[len(out)-1].continues(s.At) {
			open = &out[len(out)-1]
		}
		switch {
		case s.Waiting == 0 && open != nil:
			open.end(s)
		case s.Waiting == 0:
		case open == nil:
			out = append(out, row{})
			open = &out[len(out)-1]
			fallthrough
		default:
			open.add(s)
		}
	}
	taken := make(map[uuid.UUID]bool)
	for i := range out {
		e := &out[i]
		for _, was := range before {
			if !taken[was.ID] && !was.First.After(e.Last) && !was.Last.Before(e.First) {
				taken[was.ID] = true
				e.ID = was.ID
				break
			}
		}
		if e.ID == uuid.Nil {
			e.ID = uuid.Must(uuid.NewV7())
		}
	}
	inherit(out, samples, before)
	return out
}

// inherit gives the first episode what the one before had from samples that were deleted.
func inherit(out []row, samples []sampled, before []row) {
	if len(out) == 0 || len(before) == 0 || len(samples) == 0 {
		return
	}
	was := slices.MinFunc(before, func(a, b row) int { return a.First.Compare(b.First) })
	if e := &out[0]; was.First.Before(samples[0].At) && e.ID == was.ID {
		rest := was.Seconds
		for _, s := range samples {
			if s.At.Before(e.First) || s.At.After(was.Last) {
				continue
			}
			rest -= s.Seconds
		}
		e.First, e.Seconds = was.First, e.Seconds+max(rest, 0)
		if was.Waiting >= e.Waiting {
			e.Waiting, e.Peak, e.Root = was.Waiting, was.Peak, was.Root
		}
	}
}

// Tree is a sample as it is kept.
type Tree struct {
	Nodes   []Node `json:"nodes"`
	Omitted int    `json:"omitted,omitempty"`
	// Victims are, of a deadlock, the sessions that the server ended.
	Victims []string `json:"victims,omitempty"`
}

// Scan implements sql.Scanner.
func (t *Tree) Scan(src any) error { return statement.ScanJSON(src, t) }

// root is Held as it is stored; nil: nobody waits.
func (s *Sample) root() (*string, error) {
	held := Holding(s.Nodes)
	if held == nil {
		return nil, nil
	}
	text, err := json.Marshal(held)
	if err != nil {
		return nil, err
	}
	out := string(text)
	return &out, nil
}

func byTime(a, b Sample) int {
	return cmp.Or(slices.Compare(a.Instance[:], b.Instance[:]), cmp.Compare(flag(a.Advisory), flag(b.Advisory)), a.At.Compare(b.At))
}
