package measure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/waitclass"
)

// unseen is how long a change of who waits for whom may go unseen that leaves all waits as they were.
const unseen = 20 * time.Second

// standing is what the last looks at who waits for whom have in common. While the same sessions
// wait for the same ones, only every second look asks: with 12 of 200 sessions waiting, the six
// questions of a minute would take 0.03 % of a core of the server. Any other wait for a lock than
// at the look before is asked about at once, so an episode begins, changes its root and ends as
// soon as with every look.
type standing struct {
	waits   string // for locks, at the last look
	tree    string // the last answer
	same    bool   // it was the answer before, too
	skipped bool   // the last look did not ask
}

// skips says that a look need not ask, and notes what waits there are.
func (s *standing) skips(every time.Duration, waits string) bool {
	s.skipped = s.same && !s.skipped && waits == s.waits && 2*every <= unseen
	s.waits = waits
	return s.skipped
}

// answered notes an answer.
func (s *standing) answered(look *blocking.Look) {
	tree := treeOf(look)
	s.same, s.tree = tree == s.tree, tree
}

// treeOf is who waits for whom, without times: those are by the server's clock, and as Muster's tell
// them they differ a little at each look.
func treeOf(look *blocking.Look) string {
	var tree strings.Builder
	for _, n := range look.Nodes {
		began := int64(0)
		if n.Began != nil {
			began = n.Began.UnixMicro()
		}
		fmt.Fprintf(&tree, "%q\n", []any{n.Session, began, n.State, n.Statement, n.StatementID, n.For, n.Lock, n.Mode, n.Object})
	}
	return tree.String()
}

// lockWaits are the sessions that wait for a lock, with what they do and whose they are.
func (a *Activity) lockWaits(engine fleet.Engine, texts bool) string {
	waits := []string{fmt.Sprint(texts)}
	for _, d := range a.Databases {
		for _, doing := range d.Sample.Doing {
			if class, is := measurements.Classify(engine, doing.Wait); is && class == waitclass.Locks {
				waits = append(waits, fmt.Sprintf("%d %#v", d.ID, doing))
			}
		}
	}
	slices.Sort(waits)
	return strings.Join(waits, "\n")
}
