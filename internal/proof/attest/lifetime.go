package attest

import (
	"fmt"
	"time"
)

// Skew is how far two clocks may be apart. Times of one report that are further apart are
// not true.
const Skew = 24 * time.Hour

// early is how long a key may sign before it is published: a report that was recorded
// within that time before is signed by it where the keys changed in between.
const early = 10 * time.Minute

// Seen is the latest time at which others had seen the signed data, by trusted clocks. Zero:
// nobody has.
type Seen struct {
	Report time.Time // the attestation, or all that it says
	Any    time.Time // the log's tree, or anything else
}

// Apart says whether two times are too far apart to be true.
func Apart(a, b time.Time) bool { return a.Sub(b).Abs() > Skew }

// Ended is when the key ended: it was retired, or another person may have it since; nil: it did
// not.
func (k Key) Ended() *time.Time {
	if k.RevokedAt != nil && (k.ValidTo == nil || k.RevokedAt.Before(*k.ValidTo)) {
		return k.RevokedAt
	}
	return k.ValidTo
}

// Lifetime says in a few words what became of the key; empty: it signs.
func (k Key) Lifetime() string {
	switch {
	case k.RevokedAt != nil && k.Reason != "":
		return fmt.Sprintf("revoked as of %s: %s", stamp(*k.RevokedAt), k.Reason)
	case k.RevokedAt != nil:
		return "revoked as of " + stamp(*k.RevokedAt)
	case k.ValidTo != nil:
		return "retired on " + stamp(*k.ValidTo)
	}
	return ""
}

// Lived judges a signature by the key's lifetime. at is when the signed data was recorded, seen
// the latest time at which it existed by a trusted clock, and slack how far the clock of at may
// be from the installation's. The sentence is for a state other than Held.
//
// Another person may have a key that ended, and can sign any date with it. So its signatures
// count only if another party's clock shows that they are older.
func (k Key) Lived(at, seen time.Time, slack time.Duration) (State, string) {
	end := k.Ended()
	switch {
	case at.Before(k.ValidFrom.Add(-max(early, slack))):
		return Broken, fmt.Sprintf("The signed content is dated %s, but key %s did not exist before %s.", stamp(at), k.ID, stamp(k.ValidFrom))
	case k.ValidTo != nil && at.After(k.ValidTo.Add(slack)):
		return Broken, fmt.Sprintf("The signed content is dated %s, but key %s was retired on %s.", stamp(at), k.ID, stamp(*k.ValidTo))
	case end == nil || !seen.IsZero() && !seen.After(*end):
		return Held, ""
	case seen.IsZero():
		return Untold, fmt.Sprintf("Key %s was %s. No trusted clock shows that it signed this before then.", k.ID, k.Lifetime())
	}
	return Untold, fmt.Sprintf("Key %s was %s. The first trusted clock that shows this signature says %s.", k.ID, k.Lifetime(), stamp(seen))
}

// better is the better of two states of signatures over one text.
func better(a, b State) bool { return worth[a] > worth[b] }

var worth = map[State]int{Held: 3, Untold: 2, Broken: 1}
