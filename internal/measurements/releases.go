package measurements

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"
)

// FirstExecutions is how many statements of a database were executed for the first time at a time, as far as is known: the
// instance was watched for NewAfter before, and its server had counted no execution.
type FirstExecutions struct {
	Instance, Database uuid.UUID
	At                 time.Time
	Statements         int
}

// Release says that a database got several new statements at once, as after the deployment of an application.
type Release FirstExecutions

const (
	// NewAfter is for how long an instance is watched before its statements can be new: jobs of every day have run by then.
	NewAfter = 24 * time.Hour
	// fewestOfRelease is how many statements are new within releaseWithin, at least. More have to be than in releaseQuiet
	// before: a database that executes statements of another text all the time has no releases.
	fewestOfRelease = 5
	releaseWithin   = 10 * time.Minute
	releaseQuiet    = time.Hour
	// releaseLead is how long before a window the first executions are read that its releases follow from.
	releaseLead = 2*releaseQuiet + releaseWithin
)

// ReleaseSpan is the time whose first executions decide about the releases of a window.
func ReleaseSpan(from, to time.Time) (time.Time, time.Time) {
	return from.Add(-releaseLead), to.Add(releaseWithin)
}

// Releases finds the releases of a window, from a time to another, in the first executions of its ReleaseSpan. A release is
// at the first time with at least half as many new statements as the greatest of its ten minutes, and counts those of ten
// minutes from then on. The next one of a database follows after an hour without any.
func Releases(all []FirstExecutions, from, to time.Time) (found []Release) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b FirstExecutions) int {
		return cmp.Or(bytes.Compare(a.Instance[:], b.Instance[:]), bytes.Compare(a.Database[:], b.Database[:]), a.At.Compare(b.At))
	})
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(f FirstExecutions) bool { return f.Instance != all[0].Instance || f.Database != all[0].Database })
		if n < 0 {
			n = len(all)
		}
		found = append(found, releasesOf(all[:n], from, to)...)
		all = all[n:]
	}
	return found
}

// releasesOf are the releases of one database, oldest first.
func releasesOf(all []FirstExecutions, from, to time.Time) (found []Release) {
	var last time.Time // when the last of the statements that began one was new
	begin, end := 0, 0 // of those in the hour before, and in the minutes after
	before, soon := 0, 0
	for i, at := range all {
		for ; begin < i && at.At.Sub(all[begin].At) > releaseQuiet; begin++ {
			before -= all[begin].Statements
		}
		for ; end < len(all) && all[end].At.Sub(at.At) < releaseWithin; end++ {
			soon += all[end].Statements
		}
		if soon >= fewestOfRelease && soon > before {
			if is := beginning(all[i:], end-i); at.At.Sub(last) > releaseQuiet && !is.At.Before(from) && is.At.Before(to) {
				found = append(found, is)
			}
			last = at.At
		}
		before += at.Statements
		soon -= at.Statements
	}
	return found
}

// beginning is the release that begins in the first n of some executions.
func beginning(all []FirstExecutions, n int) Release {
	most := slices.MaxFunc(all[:n], func(a, b FirstExecutions) int { return cmp.Compare(a.Statements, b.Statements) }).Statements
	at := slices.IndexFunc(all, func(f FirstExecutions) bool { return 2*f.Statements >= most })
	r := Release(all[at])
	for _, more := range all[at+1:] {
		if more.At.Sub(r.At) < releaseWithin {
			r.Statements += more.Statements
		}
	}
	return r
}
