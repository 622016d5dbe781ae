package blocking_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/blocking"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// ago is so many seconds before noon.
func ago(seconds float64) *time.Time {
	at := noon.Add(-time.Duration(seconds * float64(time.Second)))
	return &at
}

// nodes reads "3<-1,2:5" as: session 3 has waited 5 seconds for 1 and 2; an "a" at the end: for
// advisory locks. "1" alone is a session that waits for nobody.
func nodes(t *testing.T, lines ...string) []blocking.Node {
	t.Helper()
	var out []blocking.Node
	for _, line := range lines {
		session, waits, does := strings.Cut(line, "<-")
		n := blocking.Node{Session: session, Kind: blocking.Client}
		if does {
			who, seconds, _ := strings.Cut(waits, ":")
			rest, advisory := strings.CutSuffix(seconds, "a")
			var waited float64
			if _, err := fmt.Sscan(rest, &waited); err != nil {
				t.Fatal(line, err)
			}
			n.Waits, n.For, n.Advisory, n.Lock = ago(waited), strings.Split(who, ","), advisory, "tuple"
		}
		out = append(out, n)
	}
	return out
}

func written(of []blocking.Node) string {
	var out []string
	for _, n := range of {
		one := n.Session
		if n.Waits != nil {
			one += "<-" + strings.Join(n.For, ",")
		}
		out = append(out, one)
	}
	return strings.Join(out, " ")
}

// TestTheRootIsASessionThatDoesNotWait: of several it is the one that most wait behind. Sessions that wait for
// each other in a circle have one root, and the circle is named.
func TestTheRootIsASessionThatDoesNotWait(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ nodes, want string }{
		"one waits":                      {"1 2<-1:5", "1:1"},
		"a chain of five":                {"5<-4:5 4<-3:6 3<-2:7 2<-1:8 1", "1:4"},
		"a pile behind one that waits":   {"1 2<-1:9 3<-2:5 4<-2:5 5<-2,3:5", "1:4"},
		"two trees, the larger first":    {"1 2<-1:5 7 8<-7:5 9<-7:5", "7:2 1:1"},
		"equals by their ids":            {"8<-7:5 7 2<-1:5 1", "1:1 7:1"},
		"one waits for two":              {"1 2 3<-1,2:5", "1:1 2:1"},
		"a circle of two":                {"1<-2:5 2<-1:4", "1:1(1,2)"},
		"a circle with others behind it": {"1<-2:5 2<-1:4 3<-2:3 4<-3:2", "2:3(2,1)"},
		"a circle of three":              {"1<-2:5 2<-3:4 3<-1:3", "1:2(1,2,3)"},
		"a circle that a free one holds": {"1<-2:5 2<-1,3:4 3", "3:2"},
		"nobody waits":                   {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, r := range blocking.Roots(nodes(t, strings.Fields(test.nodes)...)) {
				one := fmt.Sprintf("%s:%d", r.Node.Session, r.Behind)
				if r.Cycle != nil {
					one += "(" + strings.Join(r.Cycle, ",") + ")"
				}
				got = append(got, one)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("roots %v, want %s", got, test.want)
			}
		})
	}
}

// TestALookIsSplitByClass: a tree in which anybody waits for a lock of the engine is one of
// those, and a tree counts from two seconds on.
func TestALookIsSplitByClass(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ look, locks, advisory string }{
		"locks":                        {"1 2<-1:2", "1 2<-1", ""},
		"too short":                    {"1 2<-1:1.9", "", ""},
		"the young ones of an old one": {"1 2<-1:9 3<-1:0.1", "1 2<-1 3<-1", ""},
		"advisory":                     {"1 2<-1:9a", "", "1 2<-1"},
		"both in one tree":             {"1 2<-1:9a 3<-2:3", "1 2<-1 3<-2", ""},
		"two trees":                    {"1 2<-1:9a 3 4<-3:5", "3 4<-3", "1 2<-1"},
		"one of them too short":        {"1 2<-1:9a 3 4<-3:1", "", "1 2<-1"},
		"nobody for whom one waits":    {"2<-1:9", "", ""},
		"itself":                       {"1<-1:9", "", ""},
		"sent twice":                   {"1 2<-1:9 2<-1:4", "1 2<-1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := blocking.Look{At: noon, Nodes: nodes(t, strings.Fields(test.look)...)}.Samples(uuid.New(), 10*time.Second)
			if locks, advisory := written(of[0].Nodes), written(of[1].Nodes); locks != test.locks || advisory != test.advisory || of[0].Advisory || !of[1].Advisory {
				t.Errorf("locks %q, advisory %q", locks, advisory)
			}
		})
	}
}

// TestASampleIsBounded to 500 sessions, of which the blocker and the oldest waits stay, with
// texts that people can read; what is left out is counted.
func TestASampleIsBounded(t *testing.T) {
	t.Parallel()
	look := blocking.Look{At: noon, Omitted: 3}
	look.Nodes = nodes(t, "root")
	for i := range 700 {
		look.Nodes = append(look.Nodes, nodes(t, fmt.Sprintf("w%d<-root:%d", i, i+3))...)
	}
	look.Nodes[0].Application, look.Nodes[0].User, look.Nodes[0].Statement = "a\nb\u202e", strings.Repeat("ü", 300), "SELECT\x00 1\x1b[2J"
	locks := look.Samples(uuid.New(), 10*time.Second)[0]
	if len(locks.Nodes) != blocking.MaxNodes || locks.Omitted != 700-499+3 || locks.Nodes[0].Session != "root" || locks.Nodes[1].Session != "w699" {
		t.Fatalf("%d nodes, %d omitted, %s and %s first", len(locks.Nodes), locks.Omitted, locks.Nodes[0].Session, locks.Nodes[1].Session)
	}
	if n := locks.Nodes[0]; n.Application != "a�b�" || len([]rune(n.User)) != 200 || n.Statement != "SELECT 1�[2J" {
		t.Errorf("kept %q, %d characters, %q", n.Application, len([]rune(n.User)), n.Statement)
	}
	// More blockers than there is room: some of those who wait stay.
	look = blocking.Look{At: noon}
	for i := range 600 {
		look.Nodes = append(look.Nodes, nodes(t, fmt.Sprintf("b%d", i), fmt.Sprintf("w%d<-b%d:%d", i, i, i+3))...)
	}
	locks = look.Samples(uuid.New(), 10*time.Second)[0]
	if n := blocking.Waiting(locks.Nodes); n == 0 || len(locks.Nodes) > blocking.MaxNodes || locks.Omitted != 600-n {
		t.Errorf("%d of %d nodes wait, %d omitted", n, len(locks.Nodes), locks.Omitted)
	}
	// A session that waits for a hundred is said to wait for twenty.
	crowd := nodes(t, "x<-x:9")
	for i := range 100 {
		crowd = append(crowd, nodes(t, fmt.Sprint(i))...)
		crowd[0].For = append(crowd[0].For, fmt.Sprint(i))
	}
	locks = blocking.Look{At: noon, Nodes: crowd}.Samples(uuid.New(), time.Second)[0]
	if len(locks.Nodes) != 21 {
		t.Errorf("%d nodes", len(locks.Nodes))
	}
}
