package measure

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

const (
	// signsEvery is how often databases and the watch's figures are read.
	signsEvery = time.Minute
	// longestGap is the longest interval that two lists of statements are compared
	// over (readings, 18).
	longestGap = 10 * time.Minute
)

// phaseOf is where in the minute a server has its turn, wherever it is measured: a
// thousand of them are spread over it.
func phaseOf(instance uuid.UUID) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write(instance[:]) // never fails
	return time.Duration(h.Sum64() % uint64(signsEvery))
}

// turn is when the period began that t is in.
func turn(t time.Time, every, phase time.Duration) time.Time {
	return t.Add(-phase).Truncate(every).Add(phase)
}

// untilTurn is how long it is to the next period.
func untilTurn(t time.Time, every, phase time.Duration) time.Duration {
	return turn(t, every, phase).Add(every).Sub(t)
}

// longestPause is how long a server that cannot be reached is left alone at most. With the
// time that a connection may take, it is tried twice within status.Patience.
const longestPause = 20 * time.Second

// backoff is the pause after so many failures in a row: twice as long each time, and
// somewhere in its upper half, so that servers that went away together do not come
// back together. After none, when a connection was lost, it is short.
func backoff(failures int) time.Duration {
	if failures == 0 {
		return time.Second/4 + rand.N(time.Second/4) //nolint:gosec // G404: nothing is guarded by it
	}
	pause := longestPause
	if failures < 5 {
		pause = min(time.Second<<failures, longestPause)
	}
	return pause/2 + rand.N(pause/2) //nolint:gosec // G404: nothing is guarded by it
}
