package eventstore

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// link is one event as the chain sees it.
type link struct {
	Event
	own    bool // contents are there: else only position, digest, recorded time and hash
	intact bool // the digest is that of the contents; true where they are opaque
}

// chain checks links one after the other, in order of position.
type chain struct {
	report   *Verification
	witness  *Head
	next     int64 // the position that should come
	previous []byte
	joined   bool // previous is the hash of position next-1
	recorded time.Time
	versions map[uuid.UUID]int64
	gaps     []gap // missing versions, to be matched with missing positions
}

// gap is a place where a stream's versions jump.
type gap struct {
	finding Mismatch
	missing int64
}

func newChain(log Log, witness *Head) *chain {
	return &chain{
		report:  &Verification{Log: log},
		witness: witness, next: 1, previous: make([]byte, sha256.Size), joined: true,
		versions: make(map[uuid.UUID]int64),
	}
}

// addLink checks the next link. After a misfit it goes on from what it found, so
// that one deed is one finding and not one for every event behind it.
func (c *chain) addLink(l *link) {
	c.report.Events++
	switch {
	case l.Position > c.next:
		c.report.addFinding(Mismatch{Misfit: Deleted, Position: c.next, Until: l.Position - 1,
			Detail: fmt.Sprintf("%d missing before %s:%d", l.Position-c.next, l.Log, l.Position)})
		c.joined = false
	case l.Position < c.next:
		c.found(l, Reordered, fmt.Sprintf("comes after position %d", c.next-1))
		return
	}
	if l.own {
		c.report.Own++
		c.contents(l)
	}
	if c.joined {
		c.follow(l)
	}
	if c.witness != nil && c.witness.Position == l.Position && !bytes.Equal(c.witness.Hash, l.Hash) {
		c.found(l, Rewritten, fmt.Sprintf("its hash is %x, and the witness saw %x", l.Hash, c.witness.Hash))
	}
	if l.RecordedAt.Before(c.recorded) { // the log's clock never falls
		c.found(l, Reordered, fmt.Sprintf("it is recorded at %s, before the event before it", l.RecordedAt.UTC().Format(time.RFC3339Nano)))
	}
	c.recorded = l.RecordedAt
	c.next = l.Position + 1
	c.previous = append(c.previous[:0], l.Hash...)
	c.joined = true
}

func (c *chain) follow(l *link) {
	want := Link(c.previous, l.Digest, l.RecordedAt)
	if !bytes.Equal(want[:], l.Hash) {
		c.found(l, Unchained, "its hash does not follow from the one before, its digest and its recorded time")
	}
}

func (c *chain) contents(l *link) {
	if !l.intact {
		c.found(l, Altered, "data, metadata or envelope are not what was written")
	}
	last := c.versions[l.Stream]
	switch {
	case l.Version == last+1:
	case !l.intact: // its stream or version may be what was altered
	case l.Version <= last:
		c.found(l, Reordered, fmt.Sprintf("version %d comes after version %d of its stream", l.Version, last))
		return
	default:
		c.gaps = append(c.gaps, gap{missing: l.Version - last - 1, finding: Mismatch{
			Misfit: StreamGap, Position: l.Position, Organization: l.OrganizationID,
			StreamType: l.StreamType, Stream: l.Stream, Version: last + 1,
			Detail: fmt.Sprintf("version %d follows on version %d of its stream", l.Version, last)}})
	}
	c.versions[l.Stream] = l.Version
}

func (c *chain) found(l *link, misfit Misfit, detail string) {
	f := Mismatch{Misfit: misfit, Position: l.Position, Detail: detail}
	if l.own {
		f.Organization, f.StreamType, f.Stream, f.Version = l.OrganizationID, l.StreamType, l.Stream, l.Version
	}
	c.report.addFinding(f)
}

// end compares where the chain ended with the head row.
func (c *chain) end(head Head) {
	end := c.next - 1
	switch {
	case end < head.Position:
		c.report.addFinding(Mismatch{Misfit: DeletedTail, Position: c.next, Until: head.Position,
			Detail: fmt.Sprintf("the head row is at position %d, the last event at %d", head.Position, end)})
	case end > head.Position:
		c.report.addFinding(Mismatch{Misfit: BeyondHead, Position: head.Position + 1, Until: end,
			Detail: fmt.Sprintf("the head row is at position %d, the last event at %d", head.Position, end)})
	case !bytes.Equal(head.Hash, c.previous):
		c.report.addFinding(Mismatch{Misfit: HeadDiffers, Position: end,
			Detail: fmt.Sprintf("the head row has hash %x, the last event %x", head.Hash, c.previous)})
	}
}

// finish compares where the chain ended with the head row and the witness.
func (c *chain) finish(head Head) *Verification {
	end := c.next - 1
	c.end(head)
	if c.witness != nil && c.witness.Position == 0 && !bytes.Equal(c.witness.Hash, make([]byte, sha256.Size)) {
		c.report.addFinding(Mismatch{Misfit: Rewritten, Detail: "the witness is of an empty log, whose hash is zeros, and it has another"})
	}
	if c.witness != nil && c.witness.Position > end {
		c.report.addFinding(Mismatch{Misfit: Rewritten, Position: c.next, Until: c.witness.Position,
			Detail: fmt.Sprintf("the witness saw position %d, and the log ends at %d", c.witness.Position, end)})
	}
	c.name()
	c.report.Head = head
	c.report.Streams = len(c.versions)
	c.report.sort()
	return c.report
}

// name joins a single missing position with a single missing version: they are
// the same event. Where more is missing, both stand side by side.
func (c *chain) name() {
	var missing *Mismatch
	for i := range c.report.Findings {
		if f := &c.report.Findings[i]; f.Misfit == Deleted {
			if missing != nil || f.Until > f.Position {
				missing = nil
				break
			}
			missing = f
		}
	}
	if missing != nil && len(c.gaps) == 1 && c.gaps[0].missing == 1 && missing.Position < c.gaps[0].finding.Position {
		g := c.gaps[0].finding
		missing.Organization, missing.StreamType, missing.Stream, missing.Version = g.Organization, g.StreamType, g.Stream, g.Version
		missing.Detail = fmt.Sprintf("version %d of the stream is missing", g.Version)
		return
	}
	for _, g := range c.gaps {
		c.report.addFinding(g.finding)
	}
}
