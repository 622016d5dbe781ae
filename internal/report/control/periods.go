package control

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/assessment"
	"muster/internal/report/snapshot"
)

// State is how a check stands on a server.
type State string

// The states.
const (
	Passed      State = "passed"
	Failed      State = "failed"
	Accepted    State = "accepted" // fails, and exceptions cover all of it
	NotAssessed State = "notAssessed"
	// ReportedLate is time about which only a report from long after exists.
	ReportedLate State = "reportedLate"
	// Altered is time about which the database does not say what the log recorded.
	Altered State = "altered"
)

const (
	// Hold is how long an answer holds without another assessment.
	Hold = 24 * time.Hour
	// MaxWindow is the longest period that can be asked for.
	MaxWindow = assessment.History
)

// Reasons of notAssessed that no assessment gave.
const (
	ReasonNoAssessment  = "No assessment in the 24 hours before."
	ReasonNotAsked      = "The assessment did not ask for this check."
	ReasonNotApplicable = "The check does not apply here."
	ReasonInactive      = "The server was inactive."
	ReasonErased        = "The facts of the assessment were erased when their retention ended."
	ReasonLate          = "The assessment was recorded more than 24 hours after its time (72 hours if it waited in an agent's buffer)."
)

// Reasons of altered.
const (
	ReasonChanged  = "The stored assessment is not the one that the log recorded."
	ReasonMissing  = "The log recorded an assessment that is no longer stored."
	ReasonNoEvent  = "The log has no event of the stored assessment."
	ReasonUnlogged = "The stored assessment has no event, and says better of the server than the last one that the log recorded."
)

// Look is one assessment and its answers about the check.
type Look struct {
	ID      uuid.UUID
	At      time.Time
	Answers []assessment.Answer
	// Objects are the listed objects that fail, by database; nil: the facts were not read, and no
	// exception names one.
	Objects map[string][]string

	SHA256     string    // of the facts: as the log names them, else as they are stored; hex
	Event      int64     // position in the fleet's log; 0: none, it is from before marks
	RecordedAt time.Time // of the event; zero: there is none
	Late       bool      // recorded too late to count for its own time
	Altered    string    // why it is not used; empty: it is what the log recorded
	Erased     bool      // the log has it, and its facts were kept for as long as they are
	// Catalogue and Threshold are the version of the catalog and the threshold that were
	// applied; the threshold is in words if the facts were read. Empty: not known.
	Catalogue, Threshold string
}

// definition identifies the rules by which looks were judged.
func (l Look) definition() (d definition) {
	d.catalogue = l.Catalogue
	if len(l.Answers) > 0 {
		d.threshold = l.Answers[0].Threshold
	}
	return d
}

// definition is what a check was at an assessment.
type definition struct{ catalogue, threshold string }

// differs says whether two are known to be others.
func (d definition) differs(other definition) bool {
	return d.catalogue != "" && other.catalogue != "" && d.catalogue != other.catalogue ||
		d.threshold != "" && other.threshold != "" && d.threshold != other.threshold
}

// Exception is a granted exception, with the time for which it was in force.
type Exception struct {
	ID       uuid.UUID
	Instance *uuid.UUID // nil: every server
	Database *string    // nil: every database, and what is instance-wide
	Object   string     // empty: every object
	From, To time.Time  // granted; revoked or lapsed
}

// Turn is what a server was from a time on.
type Turn struct {
	At    time.Time
	Known bool // registered and not removed, and of the check's engine
	Alive bool // known and active
}

// Life is what a server was over time, the oldest turn first. Before the first it was not
// registered.
type Life []Turn

// Period is a time in which a state did not change.
type Period struct {
	From, To  time.Time
	State     State
	Exception *uuid.UUID // of accepted
	Reasons   []string   // of notAssessed, reportedLate and altered: why, each once, in their order
	Looks     int        // assessments in it
	// Catalogue and Threshold are what the check was, where an assessment says so: where they
	// change, another period begins.
	Catalogue, Threshold string
	definition           definition
}

// Course is how a check stood on one server over a window.
type Course struct {
	Periods    []Period      // of its life within the window, without a gap
	Passed     time.Duration // how long it passed
	Life       time.Duration // how long the server was known
	LongestGap time.Duration // without an answer in one piece, of its life: neither passed, failed nor accepted
}

// PassedShare is the part of its life in which it passed, 0 to 1.
func (c Course) PassedShare() float64 {
	if c.Life <= 0 {
		return 0
	}
	return float64(c.Passed) / float64(c.Life)
}

// moment is what holds between two instants.
type moment struct {
	state     State
	exception uuid.UUID
	reason    string
	look      *Look // that it rests on; nil: none
}

// Periods makes the course of a server over [from, to) of what is recorded. Looks are the
// oldest first, also those of Hold before the window; exceptions are those that are about
// the server.
func Periods(from, to time.Time, life Life, all []Look, exceptions []Exception) Course {
	var course Course
	var looks, late []Look
	for _, l := range all {
		if l.Late && l.Altered == "" {
			late = append(late, l)
		} else {
			looks = append(looks, l)
		}
	}
	last, turn, gap := -1, -1, time.Duration(0)
	cuts := cutsOf(from, to, life, all, exceptions)
	for i, at := range cuts[:len(cuts)-1] {
		for last+1 < len(looks) && !looks[last+1].At.After(at) {
			last++
		}
		for turn+1 < len(life) && !life[turn+1].At.After(at) {
			turn++
		}
		var look *Look
		if last >= 0 {
			look = &looks[last]
		}
		if turn < 0 || !life[turn].Known {
			gap = 0
			continue // not registered yet, removed, or of another engine
		}
		now, end := stateAt(at, life[turn].Alive, look, exceptions), cuts[i+1]
		if now.state == NotAssessed && now.look == nil && life[turn].Alive && toldLate(at, late) {
			now = moment{state: ReportedLate, reason: ReasonLate}
		}
		course.add(at, end, now)
		if gap += end.Sub(at); now.state.answers() {
			gap = 0
		}
		course.LongestGap = max(course.LongestGap, gap)
	}
	countLooks(course.Periods, all)
	return course
}

// answers says whether the state of the check is known.
func (s State) answers() bool { return s == Passed || s == Failed || s == Accepted }

// toldLate says whether an assessment that was recorded late covers an instant or is the last
// known one: it counts from its record on, and for its own time as reported late.
func toldLate(at time.Time, late []Look) bool {
	return slices.ContainsFunc(late, func(l Look) bool { return within(at, l.At) || within(at, l.RecordedAt) })
}

// within says whether what is from a time holds at an instant.
func within(at, from time.Time) bool { return !at.Before(from) && at.Before(from.Add(Hold)) }

// cutsOf are the instants at which something may change, from the window's beginning to
// its end, each once.
func cutsOf(from, to time.Time, life Life, looks []Look, exceptions []Exception) []time.Time {
	cuts := []time.Time{from, to}
	add := func(at time.Time) {
		if at.After(from) && at.Before(to) {
			cuts = append(cuts, at)
		}
	}
	for _, t := range life {
		add(t.At)
	}
	for _, l := range looks {
		add(l.At)
		add(l.At.Add(Hold))
		if l.Late {
			add(l.RecordedAt)
			add(l.RecordedAt.Add(Hold))
		}
	}
	for _, x := range exceptions {
		add(x.From)
		add(x.To)
	}
	slices.SortFunc(cuts, time.Time.Compare)
	return slices.CompactFunc(cuts, time.Time.Equal)
}

// stateAt is the state at an instant at which the server is known; look is the last
// assessment.
func stateAt(at time.Time, alive bool, look *Look, exceptions []Exception) moment {
	switch {
	case !alive:
		return moment{state: NotAssessed, reason: ReasonInactive}
	case look == nil || !at.Before(look.At.Add(Hold)):
		return moment{state: NotAssessed, reason: ReasonNoAssessment}
	case look.Altered != "":
		return moment{state: Altered, reason: look.Altered, look: look}
	case look.Erased:
		return moment{state: NotAssessed, reason: ReasonErased, look: look}
	case len(look.Answers) == 0:
		return moment{state: NotAssessed, reason: ReasonNotAsked, look: look}
	}
	now := judge(at, *look, exceptions)
	now.look = look
	return now
}

// judge makes one state of the answers of an assessment, the worst that can be said of it.
func judge(at time.Time, look Look, exceptions []Exception) moment {
	var passed bool
	var blind, accepted, inapplicable *moment
	for _, a := range look.Answers {
		switch a.Status {
		case snapshot.StatusFail:
			id, covered := cover(at, a, look.Objects[a.Database], exceptions)
			if !covered {
				return moment{state: Failed}
			}
			if accepted == nil {
				accepted = &moment{state: Accepted, exception: id}
			}
		case snapshot.StatusPass:
			passed = true
		case snapshot.StatusNotApplicable:
			if inapplicable == nil {
				inapplicable = &moment{state: NotAssessed, reason: cmp.Or(a.Reason, ReasonNotApplicable)}
			}
		default:
			if blind == nil {
				blind = &moment{state: NotAssessed, reason: cmp.Or(a.Reason, ReasonNotAsked)}
			}
		}
	}
	switch {
	case blind != nil:
		return *blind
	case accepted != nil:
		return *accepted
	case passed:
		return moment{state: Passed}
	default:
		return *inapplicable // there is an answer, and it is none of the others
	}
}

// cover says whether exceptions in force cover everything that fails, and which of them is the
// narrowest that covers the first finding. An exception that names an object covers no unlisted
// object, because the name of that object is not known.
func cover(at time.Time, a assessment.Answer, objects []string, exceptions []Exception) (id uuid.UUID, covered bool) {
	inForce := slices.DeleteFunc(slices.Clone(exceptions), func(x Exception) bool {
		return at.Before(x.From) || !at.Before(x.To) || x.Database != nil && *x.Database != a.Database
	})
	slices.SortFunc(inForce, func(a, b Exception) int {
		return cmp.Or(cmp.Compare(b.narrowness(), a.narrowness()), b.To.Compare(a.To), bytes.Compare(a.ID[:], b.ID[:]))
	})
	covering := func(object string) *Exception {
		for i, x := range inForce {
			if x.Object == "" || x.Object == object {
				return &inForce[i]
			}
		}
		return nil
	}
	first := ""
	if len(objects) > 0 {
		first = objects[0]
	}
	x := covering(first)
	if x == nil {
		return id, false
	}
	if covering("") != nil { // one that names no object covers all
		return x.ID, true
	}
	for _, object := range objects {
		if covering(object) == nil {
			return id, false
		}
	}
	return x.ID, a.Failing <= len(objects)
}

// narrowness ranks exceptions that cover the same finding, as in reports.
func (x Exception) narrowness() (n int) {
	if x.Instance != nil {
		n++
	}
	if x.Database != nil {
		n++
	}
	if x.Object != "" {
		n += 3
	}
	return n
}

// add appends what holds in [from, to), to the last period where that is the same.
func (c *Course) add(from, to time.Time, m moment) {
	c.Life += to.Sub(from)
	if m.state == Passed {
		c.Passed += to.Sub(from)
	}
	var exception *uuid.UUID
	if m.state == Accepted {
		exception = &m.exception
	}
	var is definition
	if m.look != nil && m.state.answers() {
		is = m.look.definition()
	}
	n := len(c.Periods)
	if n == 0 || c.Periods[n-1].State != m.state || m.state == Accepted && *c.Periods[n-1].Exception != m.exception ||
		c.Periods[n-1].definition.differs(is) || c.Periods[n-1].To.Before(from) {
		c.Periods = append(c.Periods, Period{From: from, State: m.state, Exception: exception})
		n++
	}
	p := &c.Periods[n-1]
	p.To = to
	if m.look != nil && m.state.answers() {
		p.Catalogue, p.Threshold = cmp.Or(p.Catalogue, m.look.Catalogue), cmp.Or(p.Threshold, m.look.Threshold)
		p.definition = definition{cmp.Or(p.definition.catalogue, is.catalogue), cmp.Or(p.definition.threshold, is.threshold)}
	}
	if m.reason != "" && !slices.Contains(p.Reasons, m.reason) {
		p.Reasons = append(p.Reasons, m.reason)
	}
}

// countLooks counts the assessments of each period.
func countLooks(periods []Period, looks []Look) {
	i := 0
	for p := range periods {
		for i < len(looks) && looks[i].At.Before(periods[p].To) {
			if !looks[i].At.Before(periods[p].From) {
				periods[p].Looks++
			}
			i++
		}
	}
}
