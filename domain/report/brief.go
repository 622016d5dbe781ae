package report

import (
	"fmt"
	"strings"
	"time"
)

// States of a verdict that are not a severity.
const (
	StateClean   = "Clean"   // everything in scope was assessed, and nothing is wrong
	StateUnknown = "Unknown" // nothing is known to be wrong, and not everything was assessed
	StateNothing = "Nothing" // nothing is in scope
)

// Brief is what page 1 of a report says first, for the mails and messages that say that the report is ready. It is
// made from the report's inputs when the report becomes ready.
type Brief struct {
	State   string `json:"state"`   // of the verdict: a severity, or one of the states
	Verdict string `json:"verdict"` // its first sentence
	Rest    string `json:"rest,omitempty"`
	// Green says that the verdict may be shown in green: it is Clean, and it is known that no server has an open
	// critical alert.
	Green bool `json:"green"`
	// Debt is what has changed and what is late; nil: reports of this kind have neither findings nor risks.
	Debt *BriefDebt `json:"debt,omitempty"`
	// First is the first action of page 1; nil: page 1 has none.
	First *FirstAction `json:"first,omitempty"`
}

// BriefDebt counts findings, or the risks of tables by their level, which is never critical.
type BriefDebt struct {
	Risks    bool `json:"risks,omitempty"` // they are counted, and not findings
	Assessed int  `json:"assessed"`        // servers, or classified databases; where it is 0, nothing is known
	Overdue  int  `json:"overdue"`         // open critical and high findings, or treatments of risks of any level
	// New and Closed are relative to the previous report of this kind and scope; nil: there is none.
	New    *BySeverity `json:"new"`
	Closed *BySeverity `json:"closed"`
}

// BySeverity is a number for each severity.
type BySeverity struct {
	Critical int `json:"critical"`
	High     int `json:"high"`
	Medium   int `json:"medium"`
	Low      int `json:"low"`
}

// Words are the numbers that are not 0: "2 critical, 1 low".
func (n BySeverity) Words() string {
	var words []string
	for _, s := range []struct {
		n    int
		name string
	}{{n.Critical, "critical"}, {n.High, "high"}, {n.Medium, "medium"}, {n.Low, "low"}} {
		if s.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", s.n, s.name))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// FirstAction is what to do first.
type FirstAction struct {
	What     string    `json:"what"`            // the finding with its objects, or the version to go to
	Instance string    `json:"instance"`        // its name
	Owner    string    `json:"owner,omitempty"` // the team that owns the server; empty: no team does
	Due      time.Time `json:"due"`
	Overdue  int       `json:"overdue"` // days since then, as of the report; 0: it is not late
}

// BriefFact is a line of a brief.
type BriefFact struct {
	Label, Words string
	Begins       bool // the lines about the first action
}

// StateWords are the state of the verdict in words.
func (b Brief) StateWords() string {
	switch b.State {
	case StateClean:
		return "No findings"
	case StateUnknown:
		return "Not everything was assessed"
	case StateNothing:
		return "Nothing in scope"
	}
	return b.State
}

// Facts are the lines of a brief below its verdict.
func (b Brief) Facts() (facts []BriefFact) {
	if d := b.Debt; d != nil {
		facts = append(facts, BriefFact{Label: "Overdue", Words: d.overdue()})
		if d.New == nil || d.Closed == nil {
			facts = append(facts, BriefFact{Label: "Change", Words: noEarlier})
		} else {
			facts = append(facts, BriefFact{Label: "New", Words: d.New.Words()}, BriefFact{Label: "Closed", Words: d.Closed.Words()})
		}
	}
	if f := b.First; f != nil {
		facts = append(facts, BriefFact{Label: "Do first", Words: f.What, Begins: true},
			BriefFact{Label: "Server", Words: f.Instance}, BriefFact{Label: "Owner", Words: f.owner()}, BriefFact{Label: "Due", Words: f.due()})
	}
	return facts
}

func (d BriefDebt) overdue() string {
	switch {
	case d.Assessed == 0 && d.Risks:
		return "not known: no database was classified"
	case d.Risks && d.Overdue == 0:
		return "no treatments of risks"
	case d.Risks && d.Overdue == 1:
		return "1 treatment of a risk"
	case d.Risks:
		return fmt.Sprintf("%d treatments of risks", d.Overdue)
	case d.Assessed == 0:
		return "not known: no server was assessed"
	case d.Overdue == 0:
		return "no critical or high findings"
	case d.Overdue == 1:
		return "1 critical or high finding"
	}
	return fmt.Sprintf("%d critical and high findings", d.Overdue)
}

// noEarlier is what a brief says of changes without a report to compare with.
const noEarlier = "not known: there is no earlier report"

func (f FirstAction) owner() string {
	if f.Owner == "" {
		return "no owner"
	}
	return f.Owner
}

func (f FirstAction) due() string {
	due := f.Due.UTC().Format(time.DateOnly)
	switch {
	case f.Overdue == 1:
		return due + ", 1 day overdue"
	case f.Overdue > 1:
		return fmt.Sprintf("%s, %d days overdue", due, f.Overdue)
	}
	return due
}

// Sentences are the brief for one line of a chat, which has room for the state of the verdict alone.
func (b Brief) Sentences() string {
	words := "Verdict: " + b.StateWords() + "."
	for _, f := range b.Facts() {
		words += " " + f.Label + ": " + f.Words + "."
	}
	return words
}
