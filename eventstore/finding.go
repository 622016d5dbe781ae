package eventstore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// Misfit says in what way a log does not fit.
type Misfit string

// The misfits that a verification tells apart.
const (
	Altered       Misfit = "altered"        // what was written is not what its digest was made of
	Unchained     Misfit = "unchained"      // the hash does not follow: recorded time, digest or hash changed, here or just before
	Reordered     Misfit = "reordered"      // the event was recorded at another place of the log or of its stream
	Deleted       Misfit = "deleted"        // events are missing
	DeletedTail   Misfit = "deleted tail"   // the last events are missing
	DeletedStream Misfit = "deleted stream" // all events of a stream are missing
	StreamGap     Misfit = "stream gap"     // versions of a stream are missing
	HeadDiffers   Misfit = "head differs"   // the head row is not that of the last event
	BeyondHead    Misfit = "beyond head"    // events behind the head row
	Rewritten     Misfit = "rewritten"      // the chain is whole, but not the one that the witness saw
	Hidden        Misfit = "hidden"         // an export shows its digest alone and says that it shows the event
	FileDiffers   Misfit = "file differs"   // an export's lines are not those that its first line names
)

// Mismatch is one thing that does not fit.
type Mismatch struct {
	Misfit   Misfit
	Log      Log
	Position int64 // where it starts
	Until    int64 // the last position it covers; Position where it is one event
	// The stream, if known, and the version that was found, or the first missing version.
	Organization uuid.UUID
	StreamType   string
	Stream       uuid.UUID
	Version      int64
	Detail       string // a sentence for a person
}

func (f Mismatch) String() string {
	where := fmt.Sprintf("%s:%d", f.Log, f.Position)
	if f.Until > f.Position {
		where = fmt.Sprintf("%s:%d–%d", f.Log, f.Position, f.Until)
	}
	if f.Stream != uuid.Nil {
		where += fmt.Sprintf(" (%s %s)", f.StreamType, f.Stream)
	}
	return fmt.Sprintf("%s %s: %s", where, f.Misfit, f.Detail)
}

// maxFindings bounds what a report keeps of a log that is broken throughout.
const maxFindings = 100

// Verification is the outcome of a verification.
type Verification struct {
	Log     Log
	Events  int64 // events seen
	Own     int64 // events whose contents were checked; the others were opaque
	Streams int   // streams among those
	Head    Head  // up to where it was verified
	// Findings in order of position, at most 100 of Misfits.
	Findings []Mismatch
	Misfits  int
	Export   *Export // what an exported file says of itself; nil: a log was verified
}

// OK says whether everything fits.
func (r *Verification) OK() bool { return r.Misfits == 0 }

// First is the finding with the lowest position; false where everything fits.
func (r *Verification) First() (Mismatch, bool) {
	if len(r.Findings) == 0 {
		return Mismatch{}, false
	}
	return r.Findings[0], true
}

func (r *Verification) addFinding(f Mismatch) {
	f.Log = r.Log
	f.Until = max(f.Until, f.Position)
	r.Misfits++
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
	}
}

// sort orders findings by position. At one position, a finding that names a stream comes first,
// because it says more.
func (r *Verification) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Mismatch) int {
		named := func(f Mismatch) int {
			if f.Stream != uuid.Nil {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(named(a), named(b)))
	})
}
