package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/domain/instant"
	"muster/internal/postgres/statement"
)

// State is how a server is.
type State string

// The states.
const (
	Up       State = "up"
	Down     State = "down"
	Silent   State = "silent"
	Unknown  State = "unknown"
	Inactive State = "inactive"
)

// States returns every state, the worst first.
func States() []State { return []State{Down, Silent, Unknown, Up, Inactive} }

// Part is what a source looks at.
type Part string

// The parts. Connection is the engine's; the others are what is measured.
const (
	Connection Part = "connection"
	Sessions   Part = "sessions"
	Statements Part = "statements"
	Databases  Part = "databases"
	Host       Part = "host"
	// Assessment is of the server's checks. Nothing observes it: Everywhere knows of those that fail.
	Assessment Part = "assessment"
)

// ofDatabase is between a part and the database that an observation of it is about.
const ofDatabase = "/"

// Of is the part in one database; empty: in all of them.
func (p Part) Of(database string) Part {
	if database == "" {
		return p
	}
	return p + ofDatabase + Part(database)
}

// database takes Of apart.
func (p Part) database() (part Part, database string) {
	whole, of, _ := strings.Cut(string(p), ofDatabase)
	return Part(whole), of
}

// Measured returns the parts of what is measured, in the order in which they are shown.
func Measured() []Part { return []Part{Sessions, Statements, Databases, Host} }

// The sources of an observation. An agent's is followed by its sender, an exporter's by the
// name of its metric.
const (
	Muster   = "muster"
	Feed     = "feed"
	Agent    = "agent/"
	Exporter = "exporter/"
)

// Codes of reasons that are Muster's own. Others are the server's, or classes of package
// servers.
const (
	CodeNotAllowed = "not_allowed" // this installation does not connect there
	CodeResting    = "resting"     // it is let pause, as nobody uses it
	CodeHostOnly   = "host_only"
	CodeNever      = "never_heard"
	CodeNotLooking = "not_looking"
	CodeNotHeard   = "not_heard"
	// CodeNotAvailable is of a part that the server does not have.
	CodeNotAvailable = "not_available"
)

const (
	// Patience is how long an observation counts of a source that is heard every few seconds.
	Patience = time.Minute
	// Longer is how long one counts at least of any other source (contract §38).
	Longer = 3 * time.Minute
	// Lately is how far back Status.Fell goes, from the last fall, and for how long that counts.
	Lately = 5 * time.Minute
	// intervals is how many of its intervals a source may miss.
	intervals = 3
)

// Fact is what a source saw last of a part.
type Fact struct {
	Source         string
	Part           Part
	OK             bool
	Since          time.Time  // the first time without a gap that it came out like that
	TriedAt        time.Time  `db:"tried_at"` // the last time
	OKAt           *time.Time `db:"ok_at"`    // the last success; nil: none
	Every          *float64   // seconds between observations; nil: not known
	Code, Sentence string     // why not
	Fell           times      // of a Connection: when it failed that had succeeded
}

// times are a column of the database's.
type times []time.Time

// Scan reads JSON.
func (t *times) Scan(src any) error { return statement.ScanJSON(src, t) }

// Reason is why a server is not up: a code for programs, a sentence for people.
type Reason struct{ Code, Sentence string }

// PartState is how a part is measured. OK and Failed are false where nothing measures it.
type PartState struct {
	Part       Part
	Database   string // that alone the part fails in; empty: it is about the whole server
	OK, Failed bool
	Since      *time.Time // nil: never
	TriedAt    *time.Time // the last time; nil: never
	Reason     Reason     // why it is not OK, or what the figures of one that is OK lack; may be empty
}

// Unavailable says that the part is not measured because the server has nothing of the kind, which is
// no trouble.
func (p PartState) Unavailable() bool { return p.Reason.Code == CodeNotAvailable }

// Status is the answer of Decide.
type Status struct {
	State    State
	Since    *time.Time // nil: as long as the instance is known
	Reason   *Reason    // nil where it is up
	TriedAt  *time.Time // the last attempt, or the last message of a feed; nil: none
	LastSeen *time.Time // when a source last reached the engine; nil: never
	// Fell is when connections to it failed that had succeeded, within the five minutes (Lately)
	// before the last time, by the source that saw it most often; empty: the last time is longer
	// ago than that.
	Fell  []time.Time
	Parts []PartState
}

// Decide says how an active server is at now. listening is since when Muster has been there
// to hear others without a gap; nil: it is not.
func Decide(facts []Fact, now time.Time, listening *time.Time) Status {
	d := decision{now: now, listening: listening}
	for _, f := range facts {
		if f.Part == Assessment {
			d.assessment = &f
			continue
		}
		if f.Part == Host {
			d.host = append(d.host, f)
			continue
		}
		d.engine = append(d.engine, f)
	}
	s := d.state()
	s.TriedAt, s.LastSeen = d.last(func(f Fact) *time.Time { return &f.TriedAt }), d.last(func(f Fact) *time.Time { return f.OKAt })
	s.Fell = d.fell()
	for _, part := range Measured() {
		s.Parts = append(s.Parts, d.part(part, s))
		s.Parts = append(s.Parts, d.failing(part, s)...)
	}
	if f := d.assessment; f != nil && s.WasUp(f.TriedAt) { // one that failed earlier is about the time when the server was down
		since := instant.Later(f.Since, *s.Since)
		s.Parts = append(s.Parts, PartState{Part: Assessment, Failed: true, Since: &since, TriedAt: &f.TriedAt, Reason: *f.reason()})
	}
	return s
}

// WasUp says whether the server is up, and has been since a time at least.
func (s Status) WasUp(at time.Time) bool {
	return s.State == Up && s.Since != nil && !at.Before(*s.Since)
}

// Off is the status of an instance that is switched off.
func Off() Status {
	s := Status{State: Inactive}
	for _, part := range Measured() {
		s.Parts = append(s.Parts, PartState{Part: part})
	}
	return s
}

type decision struct {
	now          time.Time
	listening    *time.Time
	engine, host []Fact
	assessment   *Fact // the last one, which failed
}

// evidence are the observations that say whether the engine takes connections. A feed that
// measured something had one; that it measured nothing says nothing.
func (d *decision) evidence() []Fact {
	return slices.DeleteFunc(slices.Clone(d.engine), func(f Fact) bool {
		return f.Part != Connection && (f.Source == Muster || !f.OK) || f.untried()
	})
}

// untried says that nobody tried to connect, for a reason.
func (f Fact) untried() bool { return f.Code == CodeNotAllowed || f.Code == CodeResting }

func (d *decision) state() Status {
	var connected, refused []Fact
	evidence := d.evidence()
	for _, f := range evidence {
		switch {
		case !d.fresh(f):
		case f.OK:
			connected = append(connected, f)
		default:
			refused = append(refused, f)
		}
	}
	if len(connected)+len(refused) == 0 {
		return d.unheard(evidence)
	}
	slices.SortFunc(refused, func(a, b Fact) int { return b.Since.Compare(a.Since) })
	up := slices.DeleteFunc(slices.Clone(connected), func(f Fact) bool { return len(refused) > 0 && f.TriedAt.Before(refused[0].Since) })
	if len(up) > 0 {
		since := up[0].Since
		for _, f := range up {
			if f.Since.Before(since) {
				since = f.Since
			}
		}
		return Status{State: Up, Since: &since}
	}
	why := refused[0]
	if own := slices.IndexFunc(refused, func(f Fact) bool { return f.Source == Muster }); own >= 0 {
		why = refused[own]
	}
	since := refused[0].Since
	for _, f := range evidence { // a source that is gone by now may have connected later than that
		if f.OKAt != nil {
			since = instant.Later(since, *f.OKAt)
		}
	}
	return Status{State: Down, Since: &since, Reason: why.reason()}
}

// fell is when the server went down of late. It is counted back from the last time and not from
// now: of a server that goes down every two minutes, that would be two times and three in turn,
// and its alert would end and begin again every other minute.
func (d *decision) fell() (most []time.Time) {
	for _, f := range d.engine {
		if len(f.Fell) == 0 {
			continue
		}
		last := slices.MaxFunc(f.Fell, time.Time.Compare)
		if d.now.Sub(last) > Lately {
			continue
		}
		lately := slices.DeleteFunc(slices.Clone(f.Fell), func(at time.Time) bool { return last.Sub(at) > Lately })
		if len(lately) > len(most) {
			most = lately
		}
	}
	return most
}

// unheard is the state of a server without a current observation.
func (d *decision) unheard(evidence []Fact) Status {
	for _, f := range d.engine {
		if f.untried() && d.fresh(f) {
			return Status{State: Unknown, Since: &f.Since, Reason: f.reason()}
		}
	}
	if len(evidence) == 0 {
		if len(d.host) > 0 {
			return Status{State: Unknown, Reason: &Reason{CodeHostOnly, "Only its host is measured: nothing connects to the server itself."}}
		}
		return Status{State: Unknown, Reason: &Reason{CodeNever, "No source has reported this server yet."}}
	}
	last := slices.MaxFunc(evidence, func(a, b Fact) int { return a.TriedAt.Compare(b.TriedAt) })
	if last.Source == Muster {
		return Status{State: Unknown, Since: &last.TriedAt, Reason: &Reason{CodeNotLooking, "Muster has not tried to connect since then."}}
	}
	quiet := max(Longer, last.patience())
	if d.listening != nil && d.now.Sub(instant.Later(last.TriedAt, *d.listening)) > quiet {
		return Status{State: Silent, Since: &last.TriedAt, Reason: &Reason{CodeNotHeard, fmt.Sprintf("%s has sent nothing since then.", last.who())}}
	}
	return Status{State: Unknown, Since: &last.TriedAt, Reason: &Reason{CodeNotHeard, fmt.Sprintf("%s has not reported lately.", last.who())}}
}

// part says how a part is measured. What was measured before the server went down, or was
// lost from sight, is not measured any more.
func (d *decision) part(part Part, s Status) PartState {
	out := PartState{Part: part}
	var last *Fact
	for _, f := range append(slices.Clone(d.engine), d.host...) {
		if f.Part == part && (last == nil || f.TriedAt.After(last.TriedAt)) {
			last = &f
		}
	}
	if last == nil {
		return out
	}
	out.TriedAt = &last.TriedAt
	gone := part != Host && s.State != Up && (s.Since == nil || !last.TriedAt.After(*s.Since))
	switch {
	case gone || !d.fresh(*last):
		out.Since = &last.TriedAt
	case last.OK:
		out.OK, out.Since, out.Reason = true, &last.Since, Reason{last.Code, last.Sentence}
	default:
		out.Failed, out.Since, out.Reason = true, &last.Since, Reason{last.Code, last.Sentence}
	}
	return out
}

// failing are the databases in which alone a part fails.
func (d *decision) failing(part Part, s Status) (out []PartState) {
	for _, f := range d.engine {
		of, database := f.Part.database()
		if of != part || database == "" || f.OK || !d.fresh(f) || s.State != Up {
			continue
		}
		out = append(out, PartState{
			Part: part, Database: database, Failed: true, Since: &f.Since, TriedAt: &f.TriedAt, Reason: Reason{f.Code, f.Sentence},
		})
	}
	slices.SortStableFunc(out, func(a, b PartState) int {
		return cmp.Or(cmp.Compare(a.Database, b.Database), b.TriedAt.Compare(*a.TriedAt))
	})
	return slices.CompactFunc(out, func(a, b PartState) bool { return a.Database == b.Database })
}

func (d *decision) fresh(f Fact) bool { return d.now.Sub(f.TriedAt) <= f.patience() }

// patience is how long the fact counts.
func (f Fact) patience() time.Duration {
	if f.Part == Connection && f.Source == Muster || f.OK && strings.HasPrefix(f.Source, Agent) {
		return Patience
	}
	if f.Every == nil {
		return Longer
	}
	return max(Longer, time.Duration(intervals**f.Every*float64(time.Second)))
}

func (f Fact) reason() *Reason { return &Reason{f.Code, f.Sentence} }

// who names the source at the beginning of a sentence.
func (f Fact) who() string {
	if agent, ok := strings.CutPrefix(f.Source, Agent); ok && agent != "" {
		return "Its agent"
	}
	if strings.HasPrefix(f.Source, Exporter) {
		return "Its exporter"
	}
	return "Its feed"
}

// last is the latest time that of gives of what concerns the engine.
func (d *decision) last(of func(Fact) *time.Time) (latest *time.Time) {
	for _, f := range d.engine {
		if at := of(f); at != nil && (latest == nil || at.After(*latest)) {
			latest = at
		}
	}
	return latest
}
