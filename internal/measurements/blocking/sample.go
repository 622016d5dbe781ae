package blocking

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/printable"
)

// Bounds of a sample.
const (
	// MaxNodes is how many sessions a sample has: the blockers, and those that wait longest.
	MaxNodes = 500
	// MaxBlockers is for how many sessions one is said to wait. A session in a queue waits for
	// all before it; the first ones tell who holds the lock.
	MaxBlockers = 20
	maxName     = 200
	maxText     = 2000
)

// Least is how long a session has waited for another when an episode begins (contract, §33).
const Least = 2 * time.Second

// Kind is what a node is.
type Kind string

// The kinds. Only a Client is a session that an operator may end.
const (
	Client      Kind = "client"
	Autovacuum  Kind = "autovacuum"  // a worker of PostgreSQL's
	Prepared    Kind = "prepared"    // a prepared transaction of PostgreSQL's, which has no session
	Distributed Kind = "distributed" // SQL Server: an orphaned distributed transaction (-2)
	Recovery    Kind = "recovery"    // SQL Server: a deferred recovery transaction (-3)
	Latch       Kind = "latch"       // SQL Server: the owner of a latch that is not known (-4, -5)
	System      Kind = "system"      // any other process of the server
)

// Kinds returns every kind.
func Kinds() []Kind {
	return []Kind{Client, Autovacuum, Prepared, Distributed, Recovery, Latch, System}
}

// Node is a session that waits for another one, or that another one waits for. Texts that are
// empty and times that are nil are not known.
type Node struct {
	Session string `json:"session"` // the server's own id
	Kind    Kind   `json:"kind"`
	// Began is when the session began, by the server's clock: two sessions with one id differ in
	// it. The other times are by Muster's clock.
	Began       *time.Time `json:"began,omitempty"`
	User        string     `json:"user,omitempty"`
	Application string     `json:"application,omitempty"`
	Client      string     `json:"client,omitempty"` // address or name of its host
	Database    string     `json:"database,omitempty"`
	State       string     `json:"state,omitempty"` // as the engine names it
	// Idle says that it is idle in a transaction: nobody works in it, and it holds its locks.
	Idle        bool       `json:"idle,omitempty"`
	Statement   string     `json:"statement,omitempty"`   // normalized (package sqltext); of an idle session, its last
	StatementID string     `json:"statementId,omitempty"` // as the engine names it
	Transaction *time.Time `json:"transaction,omitempty"` // when its transaction began
	Changed     *time.Time `json:"changed,omitempty"`     // when it came into its state
	// Waits is since when it waits for the sessions in For. Both are empty in a session that does
	// not wait.
	Waits  *time.Time `json:"waits,omitempty"`
	For    []string   `json:"for,omitempty"`
	Lock   string     `json:"lock,omitempty"`   // the kind of lock that it waits for, as the engine names it
	Mode   string     `json:"mode,omitempty"`   // the mode in which it wants it
	Object string     `json:"object,omitempty"` // what the lock is on
	// Advisory says that the lock is one that applications define themselves.
	Advisory bool `json:"advisory,omitempty"`
}

// vacuums is what a worker of PostgreSQL's autovacuum says that it does.
var vacuums = regexp.MustCompile(`^autovacuum: [A-Z ]+ [^\s'"$]+( \(to prevent wraparound\))?$`)

// Vacuums says whether a node's statement is none, but the words of a worker of autovacuum: a
// command and a table, without any value.
func Vacuums(n Node) bool { return n.Kind == Autovacuum && vacuums.MatchString(n.Statement) }

// waited is how long it had waited at a time; zero: it does not wait.
func (n *Node) waited(at time.Time) time.Duration {
	if n.Waits == nil {
		return 0
	}
	return max(at.Sub(*n.Waits), 0)
}

// Sample is who waits for whom on a server at a time, for locks of one class: those of the
// engine, or advisory ones, which applications may hold for as long as they please. A sample
// without nodes says that nobody waits.
type Sample struct {
	Instance uuid.UUID
	Advisory bool
	At       time.Time
	Interval time.Duration // how often the server is looked at
	Nodes    []Node
	Omitted  int // sessions that wait and are not among the nodes
	// End says of a sample without nodes how the root of the sample before let the others go;
	// empty: that is not known.
	End End
	// Deadlock says that the sample is about a deadlock, and is in no episode; nil: it is about who waits.
	Deadlock *Deadlock
}

// End is how the sessions that waited for a root were let go.
type End string

// The ends.
const (
	TransactionEnded End = "transactionEnded" // the root committed or rolled back; its session is still there
	SessionEnded     End = "sessionEnded"     // the root's session is gone: it was closed or terminated
	WaitsEnded       End = "waitsEnded"       // the root still has its transaction: those who waited gave up, or were canceled
)

// Ends returns every end.
func Ends() []End { return []End{TransactionEnded, SessionEnded, WaitsEnded} }

// Look is what a look at a server found. The samples of both classes follow from it.
type Look struct {
	At      time.Time
	Nodes   []Node
	Omitted int
}

// Samples are those of the two classes, the engine's locks first. Trees in which no session
// has waited for Least are left out.
func (l Look) Samples(instance uuid.UUID, interval time.Duration) [2]Sample {
	out := [2]Sample{{Instance: instance, At: l.At, Interval: interval}, {Instance: instance, Advisory: true, At: l.At, Interval: interval}}
	for _, tree := range trees(fit(l.Nodes)) {
		class := 1
		var longest time.Duration
		for _, n := range tree {
			if n.Waits != nil && !n.Advisory {
				class = 0
			}
			longest = max(longest, n.waited(l.At))
		}
		if longest >= Least {
			out[class].Nodes = append(out[class].Nodes, tree...)
		}
	}
	for class := range out {
		out[class].Nodes, out[class].Omitted = First(out[class].Nodes, MaxNodes)
	}
	if class := busier(out); len(out[class].Nodes) > 0 {
		out[class].Omitted += l.Omitted
	}
	return out
}

// busier is the class with more sessions: what a reader left out is most likely of it.
func busier(of [2]Sample) int {
	if len(of[1].Nodes) > len(of[0].Nodes) {
		return 1
	}
	return 0
}

// Fit makes a sample of somebody else's keep to the rules of ours.
func (s Sample) Fit() Sample {
	if s.Deadlock != nil {
		return s.fitDeadlock()
	}
	var omitted int
	s.Nodes, omitted = First(fit(s.Nodes), MaxNodes)
	s.Omitted = max(s.Omitted, 0) + omitted
	if !slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.waited(s.At) >= Least }) {
		s.Nodes, s.Omitted = nil, 0
	}
	if len(s.Nodes) > 0 || !slices.Contains(Ends(), s.End) {
		s.End = ""
	}
	return s
}

// fit returns the nodes with clean and short texts, and with edges between them only. Sessions
// of whose blockers none is there are left out, unless others wait for them, and so are
// processes of the server that wait and that nobody waits for.
func fit(nodes []Node) []Node {
	at := make(map[string]int, len(nodes))
	var kept []Node
	for _, n := range nodes {
		n.clean()
		if _, twice := at[n.Session]; twice || n.Session == "" {
			continue
		}
		at[n.Session] = len(kept)
		kept = append(kept, n)
	}
	blocks := make(map[string]bool)
	for i := range kept {
		n := &kept[i]
		known := make([]string, 0, min(len(n.For), MaxBlockers))
		for _, other := range n.For {
			if _, there := at[other]; there && other != n.Session && !slices.Contains(known, other) && len(known) < MaxBlockers {
				known = append(known, other)
			}
		}
		n.For = known
		if len(known) == 0 || n.Waits == nil {
			n.For, n.Waits, n.Lock, n.Mode, n.Object, n.Advisory = nil, nil, "", "", "", false
			continue
		}
		for _, other := range known {
			blocks[other] = true
		}
	}
	return slices.DeleteFunc(kept, func(n Node) bool { return !blocks[n.Session] && (n.Waits == nil || n.Kind != Client) })
}

// clean makes texts legible, and cuts them.
func (n *Node) clean() {
	for _, text := range []*string{
		&n.Session, &n.User, &n.Application, &n.Client, &n.Database, &n.State, &n.StatementID, &n.Lock, &n.Mode, &n.Object,
	} {
		*text = printable.Cut(printable.Clean(strings.ReplaceAll(*text, "\x00", "")), maxName)
	}
	n.For = slices.Clone(n.For)
	for i, other := range n.For {
		n.For[i] = printable.Cut(printable.Clean(strings.ReplaceAll(other, "\x00", "")), maxName)
	}
	n.Statement = printable.Cut(printable.Clean(strings.ReplaceAll(n.Statement, "\x00", "")), maxText)
	if !slices.Contains(Kinds(), n.Kind) {
		n.Kind = System
	}
}

// First puts first who does not wait, then who has waited longest, and leaves at most so many:
// those that have waited longest, each with everybody who holds it up. It says how many sessions
// that wait are left out.
func First(nodes []Node, most int) (kept []Node, omitted int) {
	slices.SortStableFunc(nodes, func(a, b Node) int {
		if a.Waits == nil || b.Waits == nil {
			return cmp.Compare(flag(a.Waits != nil), flag(b.Waits != nil))
		}
		return a.Waits.Compare(*b.Waits)
	})
	if len(nodes) <= most {
		return nodes, 0
	}
	g := graphOf(nodes)
	chosen := make([]bool, len(nodes))
	room := most
	for i := range nodes {
		if nodes[i].Waits == nil || chosen[i] {
			continue
		}
		needed := reach(g.waitsIn, chosen, i)
		if len(needed) > room {
			continue
		}
		room -= len(needed)
		for j := range needed {
			chosen[j] = true
		}
	}
	for i := range nodes {
		if chosen[i] {
			kept = append(kept, nodes[i])
		}
	}
	return kept, Waiting(nodes) - Waiting(kept)
}

func flag(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Waiting is how many of the nodes wait.
func Waiting(nodes []Node) int {
	waiting := 0
	for _, n := range nodes {
		if n.Waits != nil {
			waiting++
		}
	}
	return waiting
}

// seconds are the session-seconds that a sample stands for: of each session that waits, for how
// long it has since the look before.
func (s *Sample) seconds() float64 {
	var sum float64
	for i := range s.Nodes {
		sum += min(s.Nodes[i].waited(s.At), s.Interval).Seconds()
	}
	return sum
}

// end is how the root before let the others go; nil: that is not known.
func (s *Sample) end() *End {
	if s.End == "" {
		return nil
	}
	return &s.End
}
