package measure

import (
	"fmt"
	"slices"
	"time"

	"muster/internal/measurements"
)

// resetsFor is for how long the part says that there were resets.
const resetsFor = time.Hour

// resets are the looks that found the statement statistics reset since the look before, of the
// last hour. They are this process's: after it begins, they are counted anew.
type resets []time.Time

// with is the knowledge after the look at now. Between two looks there may have been several
// resets; a restart of the server is none.
func (r resets) with(last, now *List) resets {
	kept := slices.Clone(r)
	if last != nil && now.At.After(last.At) && now.At.Sub(last.At) <= longestGap {
		if i := intervalBetween(last, now); i.reset && !i.restarted {
			kept = append(kept, now.At)
		}
	}
	return slices.DeleteFunc(kept, func(at time.Time) bool { return now.At.Sub(at) >= resetsFor })
}

// say adds to the part, which is measured, what its figures lack.
func (r resets) say(part *measurements.Reached) {
	if len(r) == 0 || !part.Up {
		return
	}
	intervals := fmt.Sprintf("%d intervals", len(r))
	if len(r) == 1 {
		intervals = "1 interval"
	}
	part.Code = "statistics_reset"
	part.Sentence = "The server's statement statistics were reset in " + intervals +
		" of the last hour. Calls between the last reading and the reset that follows it are not counted."
}
