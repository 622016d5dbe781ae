package replication

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Node is a server in a Picture. A server that nobody watches has no instance.
type Node struct {
	Instance uuid.UUID
	Name     string // of one that is not watched, as those around it call it
	Role     Role   // empty: not known
	Trouble
	At         time.Time // when it was looked at; zero: it was not
	LagSeconds *float64
	LagBytes   *int64
	SplitFrom  []uuid.UUID // other primaries of the same system
}

// Edge says that one node follows another.
type Edge struct {
	From, To int // nodes: who sends, and who receives
	Kind     Kind
	State    string // in the engine's words
	Sync     string
	Group    string
	Trouble
	LagSeconds *float64
	LagBytes   *int64
	member     string // of the peer
	name       string // likewise
}

// Picture is who follows whom.
type Picture struct {
	Nodes []Node
	Edges []Edge
}

// Fresh is how old a State may be to say something about now: two looks may fail.
const Fresh = 5 * time.Minute

// end is one end of a connection, as a sender lists it.
type end struct{ sender, peer int }

// PictureOf draws the servers that have a system in common with an instance, directly or over others,
// from the newest States of all that may be seen. now is the time of the question.
func PictureOf(instance uuid.UUID, all []Kept, now time.Time) Picture {
	all = related(instance, all)
	var p Picture
	for i := range all {
		s := &all[i]
		p.Nodes = append(p.Nodes, Node{
			Instance: s.Instance, Role: s.Role, Trouble: s.Trouble, At: s.At, LagSeconds: s.LagSeconds, LagBytes: s.LagBytes,
		})
	}
	p.splits(all, now)
	drawn := make(map[end]bool)
	for to := range all {
		for _, from := range sendersOf(all, to) {
			drawn[from] = true
			p.connect(all, from, to, now)
		}
	}
	for i := range all {
		p.addStrangers(all, i, drawn)
	}
	return p
}

// related are the States that have a system in common with one, directly or over others. Logical
// replication goes across systems: publishers and subscribers count where both know the subscription.
func related(instance uuid.UUID, all []Kept) (found []Kept) {
	in := make([]bool, len(all))
	for changed := true; changed; {
		changed = false
		for i := range all {
			if in[i] {
				continue
			}
			in[i] = all[i].Instance == instance
			for j := range all {
				in[i] = in[i] || in[j] && i != j && (shares(&all[i].State, &all[j].State) || subscribes(all, i, j) || subscribes(all, j, i))
			}
			changed = changed || in[i]
		}
	}
	for i := range all {
		if in[i] {
			found = append(found, all[i])
		}
	}
	return found
}

// shares says whether two States are of one system, which both tell.
func shares(a, b *State) bool {
	return slices.ContainsFunc(a.Systems, func(one string) bool { return slices.Contains(b.Systems, one) })
}

// subscribes says whether a server is the only one with a subscription that another one, and no
// third one, sends to.
func subscribes(all []Kept, subscriber, publisher int) bool {
	for i := range all[publisher].Peers {
		if p := &all[publisher].Peers[i]; p.Kind == Logical {
			if only, ok := subscriberOf(all, p); ok && only == subscriber {
				return true
			}
		}
	}
	return false
}

// subscriberOf is the only server with the subscription that a peer serves.
func subscriberOf(all []Kept, p *Peer) (at int, ok bool) {
	publishers, subscribers := 0, 0
	for i := range all {
		if slices.ContainsFunc(all[i].Peers, func(other Peer) bool { return other.Kind == Logical && other.Member == p.Member }) {
			publishers++
		}
		if slices.Contains(all[i].Members, p.Member) {
			at = i
			subscribers++
		}
	}
	return at, publishers == 1 && subscribers == 1
}

// splits names the other primaries of a system that were seen lately.
func (p *Picture) splits(all []Kept, now time.Time) {
	primary := func(s *Kept) bool { return s.Role == Primary && now.Sub(s.At) <= Fresh }
	for i := range all {
		for j := range all {
			if i != j && primary(&all[i]) && primary(&all[j]) && shares(&all[i].State, &all[j].State) {
				p.Nodes[i].SplitFrom = append(p.Nodes[i].SplitFrom, all[j].Instance)
			}
		}
	}
}

// sendersOf are whom a server follows: one for physical replication, one for each availability group
// and subscription. Who cannot be told from another one is left out.
func sendersOf(all []Kept, to int) (senders []end) {
	byKind := map[string][]end{}
	for from := range all {
		for i := range all[from].Peers {
			p := &all[from].Peers[i]
			switch {
			case from == to || p.Member == "" || !slices.Contains(all[to].Members, p.Member):
			case p.Kind == Logical:
				if _, only := subscriberOf(all, p); only {
					byKind[string(Logical)+p.Member] = append(byKind[string(Logical)+p.Member], end{from, i})
				}
			case shares(&all[from].State, &all[to].State) && (p.Kind == Availability || all[to].Role == Standby):
				byKind[string(p.Kind)+p.Group] = append(byKind[string(p.Kind)+p.Group], end{from, i})
			}
		}
	}
	for _, candidates := range byKind {
		if one, ok := chosen(all, to, candidates); ok {
			senders = append(senders, one)
		}
	}
	slices.SortFunc(senders, func(a, b end) int { return a.sender - b.sender })
	return senders
}

// chosen is the one of several senders to which the receiver is connected.
func chosen(all []Kept, to int, candidates []end) (end, bool) {
	connected := slices.DeleteFunc(slices.Clone(candidates), func(e end) bool { return all[e.sender].Peers[e.peer].Condition == Gone })
	if len(connected) == 0 {
		connected = candidates
	}
	if up := all[to].Upstream; up != nil && up.Port != 0 && severalSenders(connected) {
		connected = slices.DeleteFunc(slices.Clone(connected), func(e end) bool { return all[e.sender].Port != up.Port })
	}
	if len(connected) == 0 || severalSenders(connected) {
		return end{}, false
	}
	return connected[0], true
}

func severalSenders(of []end) bool {
	return slices.ContainsFunc(of, func(e end) bool { return e.sender != of[0].sender })
}

// connect draws a line between two watched servers. The receiver's own figures count where it has
// any of now: it knows better what it has applied.
func (p *Picture) connect(all []Kept, from end, to int, now time.Time) {
	peer, receiver := &all[from.sender].Peers[from.peer], &all[to]
	e := edgeOf(peer, from.sender, to)
	if peer.Kind == Physical && now.Sub(receiver.At) <= Fresh {
		if receiver.LagSeconds != nil {
			e.LagSeconds = receiver.LagSeconds
		}
		if receiver.LagBytes != nil && (e.LagBytes == nil || *receiver.LagBytes > *e.LagBytes) {
			e.LagBytes = receiver.LagBytes
		}
		if receiver.Condition != Works && peer.Condition != Gone {
			e.Trouble = receiver.Trouble
		}
	}
	p.Edges = append(p.Edges, e)
}

func edgeOf(peer *Peer, from, to int) Edge {
	return Edge{
		From: from, To: to, Kind: peer.Kind, State: peer.State, Sync: peer.Sync, Group: peer.Group, Trouble: peer.Trouble,
		LagSeconds: peer.LagSeconds, LagBytes: peer.LagBytes, member: peer.Member, name: peer.Name,
	}
}

// addStrangers draws those that nobody watches: who follows a server, and whom it follows.
func (p *Picture) addStrangers(all []Kept, at int, drawn map[end]bool) {
	s := &all[at]
	for i := range s.Peers {
		peer := &s.Peers[i]
		if drawn[end{at, i}] || drawnTwin(all, at, i, drawn) {
			continue
		}
		role := Standby
		if peer.Kind == Logical {
			role = ""
		}
		p.Nodes = append(p.Nodes, Node{
			Name: peer.Name, Role: role, Trouble: peer.Trouble, LagSeconds: peer.LagSeconds, LagBytes: peer.LagBytes,
		})
		p.Edges = append(p.Edges, edgeOf(peer, at, len(p.Nodes)-1))
	}
	follows := slices.ContainsFunc(p.Edges, func(e Edge) bool { return e.To == at && e.Kind != Logical })
	if s.Upstream == nil || follows {
		return
	}
	name := s.Upstream.Name
	if name == "" {
		name = s.Upstream.Host
		if s.Upstream.Port != 0 {
			name = fmt.Sprintf("%s:%d", name, s.Upstream.Port)
		}
	}
	if name == "" {
		return
	}
	from := slices.IndexFunc(p.Nodes, func(n Node) bool { return n.Instance == uuid.Nil && n.Name == name })
	if from < 0 {
		p.Nodes = append(p.Nodes, Node{Name: name, Trouble: Trouble{Condition: Works}})
		from = len(p.Nodes) - 1
	}
	p.Edges = append(p.Edges, Edge{From: from, To: at, Kind: s.Upstream.Kind, State: s.State.State, Trouble: s.Trouble, LagSeconds: s.LagSeconds, LagBytes: s.LagBytes})
}

// drawnTwin says that a peer that is gone was drawn under another key: it came back from another
// address, or is another server's now.
func drawnTwin(all []Kept, at, i int, drawn map[end]bool) bool {
	p := &all[at].Peers[i]
	if p.Condition != Gone || p.Member == "" {
		return false
	}
	for e := range drawn {
		if other := &all[e.sender].Peers[e.peer]; other.Member == p.Member && other.Condition != Gone && shares(&all[at].State, &all[e.sender].State) {
			return true
		}
	}
	return false
}

// Receiver is the watched server to which a peer of a node is connected; known is false if none is drawn.
func (p *Picture) Receiver(node int, of Peer) (instance uuid.UUID, known bool) {
	for _, e := range p.Edges {
		if to := p.Nodes[e.To].Instance; e.From == node && e.member == of.Member && to != uuid.Nil && e.member != "" {
			return to, true
		}
	}
	return uuid.Nil, false
}
