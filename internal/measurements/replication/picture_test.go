package replication_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/internal/measurements/replication"
)

// drawn are the lines of a picture: instances by their numbers, others by their names.
func drawn(p replication.Picture) (lines []string) {
	name := func(at int) string {
		if n := p.Nodes[at]; n.Name != "" {
			return n.Name
		}
		return fmt.Sprint(p.Nodes[at].Instance[15])
	}
	for _, e := range p.Edges {
		line := name(e.From) + "→" + name(e.To) + " " + string(e.Condition)
		if e.LagSeconds != nil {
			line += fmt.Sprintf(" %g s", *e.LagSeconds)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// TestPairsOfServers, and servers without a partner.
func TestPairsOfServers(t *testing.T) {
	t.Parallel()
	on := func(port int, s replication.State) replication.State { s.Port = port; return s }
	broken := standby(2, 0, "two", 5432)
	broken.Condition, broken.LagSeconds, broken.State = replication.Broken, nil, "not streaming"
	gone := primary(1, 0, "two")
	gone.Peers[0].Trouble = replication.Trouble{Condition: replication.Gone}
	gone.Peers[0].LagSeconds = nil
	other := standby(3, 0, "two", 5432)
	other.Systems = []string{"8"}
	publisher := primary(1, 0)
	publisher.Peers = []replication.Peer{{Kind: replication.Logical, Name: "copy", Member: "logical copy copy", Trouble: works()}}
	subscriber := func(n byte) replication.State {
		s := primary(n, 0)
		s.Systems, s.Members = []string{fmt.Sprint("s", n)}, []string{"logical copy copy"}
		s.Subscriptions = []replication.Subscription{{Name: "copy", Trouble: works()}}
		return s
	}
	unknown := standby(2, 0, "walreceiver", 6000)
	for name, c := range map[string]struct {
		states []replication.State
		want   []string
	}{
		"both ends are watched, and the standby knows its lag": {[]replication.State{primary(1, 0, "two"), standby(2, 0, "two", 5432)}, []string{"1→2 works 3.5 s"}},
		"only the primary is watched":                          {[]replication.State{primary(1, 0, "two")}, []string{"1→two works 3 s"}},
		"only the standby is watched":                          {[]replication.State{standby(1, 0, "two", 5432)}, []string{"db01:5432→1 works 3.5 s"}},
		"a cascade":                                            {[]replication.State{primary(1, 0, "two"), cascading(), standby(3, 0, "three", 5432)}, []string{"1→2 works 3.5 s", "2→3 works 3.5 s"}},
		"two that are called the same, told apart by the port": {
			[]replication.State{on(6000, primary(1, 0, "walreceiver")), on(6001, withPeer(standby(2, 0, "walreceiver", 6000), "walreceiver")), on(6002, standby(3, 0, "walreceiver", 6001))},
			[]string{"1→2 works 3.5 s", "2→3 works 3.5 s"},
		},
		"two that cannot be told apart": {
			[]replication.State{on(6000, primary(1, 0, "walreceiver")), on(6000, primary(2, 0, "walreceiver")), on(6000, unknown2(unknown))},
			[]string{"1→walreceiver works 11 s", "2→walreceiver works 11 s", "db01:6000→3 works 3.5 s"},
		},
		"the sender misses it, and so does the receiver": {[]replication.State{gone, broken}, []string{"1→2 gone"}},
		"the receiver has none":                          {[]replication.State{primary(1, 0, "two"), broken}, []string{"1→2 broken 3 s"}},
		"a server of another system with the same name":  {[]replication.State{primary(1, 0, "two"), other}, []string{"1→two works 3 s"}},
		"a subscription":                                 {[]replication.State{publisher, subscriber(2)}, []string{"1→2 works"}},
		"a subscription that two have":                   {[]replication.State{publisher, subscriber(2), subscriber(3)}, []string{"1→copy works"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []replication.Kept
			for _, s := range c.states {
				all = append(all, replication.Kept{State: s})
			}
			if got := drawn(replication.PictureOf(server(1), all, noon)); !slices.Equal(got, c.want) {
				t.Errorf("%q", got)
			}
		})
	}
}

func unknown2(s replication.State) replication.State {
	s.Instance = server(3)
	return s
}

// cascading is a standby that others follow.
func cascading() replication.State { return withPeer(standby(2, 0, "two", 5432), "three") }

func withPeer(s replication.State, name string) replication.State {
	s.Peers = primary(0, 0, name).Peers
	return s
}

// TestTwoPrimariesOfOneSystem are named at both, if both were seen lately.
func TestTwoPrimariesOfOneSystem(t *testing.T) {
	t.Parallel()
	all := []replication.Kept{{State: primary(1, 0)}, {State: primary(2, 0)}}
	p := replication.PictureOf(server(1), all, noon)
	if len(p.Nodes) != 2 || len(p.Nodes[0].SplitFrom) != 1 || p.Nodes[0].SplitFrom[0] != server(2) || p.Nodes[1].SplitFrom[0] != server(1) {
		t.Errorf("%+v", p.Nodes)
	}
	all[1].At = noon.Add(-replication.Fresh - time.Second)
	if p := replication.PictureOf(server(1), all, noon); len(p.Nodes[0].SplitFrom) != 0 {
		t.Errorf("it was last seen a while ago: %+v", p.Nodes)
	}
}

// TestFiguresOfTheFurthestStandby: a standby's figures are its own, even if it knows none. Another server's are
// those of its furthest standby.
func TestFiguresOfTheFurthestStandby(t *testing.T) {
	t.Parallel()
	p := primary(1, 0, "two", "eleven", "x")
	if f := p.Figures(); *f.LagSeconds != 6 || *f.LagBytes != 6000 || f.Retained != nil {
		t.Errorf("%+v", f)
	}
	blind := cascading()
	blind.LagSeconds = nil
	if f := blind.Figures(); f.LagSeconds != nil || f.LagBytes != nil {
		t.Errorf("%+v", f)
	}
	if alone := primary(1, 0); alone.Replicates() {
		t.Error("nobody follows it")
	}
}
