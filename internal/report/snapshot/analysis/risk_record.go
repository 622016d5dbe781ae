package analysis

import (
	"muster/domain/exception"
	"muster/internal/report/snapshot"
)

// Movement says how a risk has changed since the previous report.
type Movement string

// The movements of a risk. Unknown: there is no previous report with a register.
const (
	MovementUnknown Movement = ""
	MovementNew     Movement = "new"
	MovementSame    Movement = "same"
	MovementUp      Movement = "up"
	MovementDown    Movement = "down"
)

// onRecord has what is on record of the risks of a document, by id.
type onRecord struct {
	since     map[string]*snapshot.RiskRecord
	decisions map[string][]*snapshot.Exception
	before    map[string]int // nil: there is no register to compare with
}

func recordOf(doc snapshot.Document) onRecord {
	r := onRecord{since: map[string]*snapshot.RiskRecord{}, decisions: map[string][]*snapshot.Exception{}}
	for i := range doc.Risks {
		r.since[doc.Risks[i].ID] = &doc.Risks[i]
	}
	for i := range doc.Exceptions {
		x := &doc.Exceptions[i]
		if exception.IsRisk(x.CheckID) {
			r.decisions[x.CheckID] = append(r.decisions[x.CheckID], x)
		}
	}
	if doc.Previous != nil {
		r.before = make(map[string]int, len(doc.Previous.Risks))
		for _, was := range doc.Previous.Risks {
			r.before[was.ID] = was.Score
		}
	}
	return r
}

// note adds what is on record to a risk. Only a person accepts a risk: without a decision in force it is undecided,
// whatever its score.
func (r onRecord) note(doc snapshot.Document, t *TableRisk) {
	t.Since = r.since[t.ID]
	for _, x := range r.decisions[t.ID] { // the one that holds longest
		if x.InstanceID != nil && *x.InstanceID == t.InstanceID && (t.Decision == nil || x.Until.After(t.Decision.Until)) {
			t.Decision = x
		}
	}
	if r.before != nil {
		t.Movement = MovementNew
		if was, known := r.before[t.ID]; known {
			t.Was = was
			switch {
			case was < t.Score:
				t.Movement = MovementUp
			case was > t.Score:
				t.Movement = MovementDown
			default:
				t.Movement = MovementSame
			}
		}
	}
	if t.Decision == nil && t.Level() != Low {
		due := DeadlineOf(doc, nil, t.Level())
		if t.Since != nil {
			due = DeadlineOf(doc, &t.Since.FirstSeenAt, t.Level())
		}
		t.Due = &due
	}
}

// RiskDebt counts the risks that somebody has to act on.
type RiskDebt struct {
	High, Undecided int // of High level; of those: without a decision
	Overdue         int // treatments of any level that are overdue
	Longest         int // days that the one that is overdue longest has been so
	New             int
}

// RiskDebtOf counts them.
func RiskDebtOf(doc snapshot.Document, risks []TableRisk) (d RiskDebt) {
	for _, r := range risks {
		if r.Level() == High {
			d.High++
			if r.Decision == nil {
				d.Undecided++
			}
		}
		if r.Movement == MovementNew {
			d.New++
		}
		if r.Due == nil {
			continue
		}
		if late := r.Due.Overdue(doc.AsOf); late > 0 {
			d.Overdue, d.Longest = d.Overdue+1, max(d.Longest, late)
		}
	}
	return d
}
