package analysis

import (
	"strings"

	"muster/domain/alert"
	"muster/internal/engine"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis/window"
)

// Cap is something that holds a score down, whatever the checks say.
type Cap struct {
	Name    string
	Most    int
	State   CapState
	Because string // in a clause
}

// CapState says whether a cap applies to an instance.
type CapState int

// The states of a cap. CapUnknown: nobody looked, so it does not lower the score; page 1 says so.
const (
	CapNot CapState = iota
	CapApplies
	CapUnknown
)

// The highest scores under a cap, what makes it apply, and the name of one.
const (
	NoRecentBackup = "No recent backup"

	mostCritical = 59
	mostGrave    = 69
	mostHigh     = 89
	manyHigh     = 5 // failed checks of severity High
)

// Binding is the cap that decided the score: the lowest that applies and is below the score of the checks; nil: none.
func (s Score) Binding() *Cap {
	for i, c := range s.Caps {
		if c.State == CapApplies && c.Most < s.Uncapped {
			return &s.Caps[i]
		}
	}
	return nil
}

// words say what a cap made of a score.
func (c Cap) words(s Score) string {
	return itoa(s.Uncapped) + " by its checks, capped at " + itoa(c.Most) + " because " + c.Because
}

// ScoreWords are the score, the grade and the cap that decided it.
func ScoreWords(s Score) string {
	words := itoa(s.Overall) + " of 100, grade " + s.Grade
	if c := s.Binding(); c != nil {
		words += ": " + c.words(s)
	}
	return words
}

// capsOf are all caps with what is known of them, the lowest first.
func capsOf(doc snapshot.Document, in *snapshot.Instance, all []outcome) []Cap {
	failed := failedBySeverity(all)
	count := func(name string, most, n, from int, severity string) Cap {
		c := Cap{Name: name, Most: most, Because: "no " + severity + " check fails"}
		if n > 0 {
			c.Because = Plural(n, severity+" check fails", severity+" checks fail")
		}
		if n >= from {
			c.State = CapApplies
		}
		return c
	}
	return []Cap{
		count("Failed critical check", mostCritical, failed[Rank(Critical)], 1, "critical"),
		backupCap(doc, in),
		alertCap(doc, in),
		volumeCap(doc),
		supportCap(doc, in),
		count("Five failed high checks", mostGrave, failed[Rank(High)], manyHigh, "high"),
		count("Failed high check", mostHigh, failed[Rank(High)], 1, "high"),
	}
}

// backupCap goes by the check of backups, and by the backups themselves if they are measured.
func backupCap(doc snapshot.Document, in *snapshot.Instance) Cap {
	c := checkedBackup(doc, in)
	if doc.Server == nil || doc.Server.Backups == nil {
		return c
	}
	switch b := doc.Server.Backups; {
	case b.Late > 0:
		c.State, c.Because = CapApplies, b.Words()
	case c.State == CapApplies && b.Unknown == 0: // one of the two is wrong
		c.Because += ", though backups are in time"
	case c.State != CapApplies && b.Unknown == 0:
		c.State, c.Because = CapNot, b.Words()
	case c.State == CapUnknown:
		c.Because = b.Words()
	}
	return c
}

func checkedBackup(doc snapshot.Document, in *snapshot.Instance) Cap {
	c := Cap{Name: NoRecentBackup, Most: mostCritical, State: CapUnknown, Because: "Muster has no check of the backups of " + EngineName(in.Engine)}
	id := engine.ChecksOf(in.Engine).Backup
	if id == "" {
		return c
	}
	c.Because = id + " has no answer"
	for _, r := range Results(doc, in) {
		if r.CheckID != id {
			continue
		}
		switch r.Status {
		case snapshot.StatusFail:
			c.State, c.Because = CapApplies, id+" fails"
		case snapshot.StatusPass, snapshot.StatusNotApplicable, snapshot.StatusAccepted:
			if c.State != CapApplies {
				c.State, c.Because = CapNot, id+" "+strings.ReplaceAll(r.Status, "_", " ")
			}
		}
	}
	return c
}

func alertCap(doc snapshot.Document, in *snapshot.Instance) Cap {
	c := Cap{Name: "Open critical alert", Most: mostGrave, State: CapUnknown, Because: "the alerts were not gathered"}
	switch n, known := openCritical(doc, in); {
	case !known:
	case n > 0:
		c.State, c.Because = CapApplies, Plural(n, "critical alert is", "critical alerts are")+" open"
	default:
		c.State, c.Because = CapNot, "no critical alert is open"
	}
	return c
}

// openCritical counts the critical alerts of an instance that are open and not muted when the inputs were gathered;
// known is false if the alerts were not gathered.
func openCritical(doc snapshot.Document, in *snapshot.Instance) (n int, known bool) {
	if in.OpenAlerts != nil {
		return in.OpenAlerts.Critical, true
	}
	if doc.Alerts == nil {
		return 0, false
	}
	for _, a := range doc.Alerts.Listed { // of a scorecard, which has one instance
		if a.ResolvedAt == nil && !a.Muted && a.Severity == string(alert.Critical) {
			n++
		}
	}
	return n, true
}

func volumeCap(doc snapshot.Document) Cap {
	c := Cap{Name: "Volume full within " + itoa(window.FullWithin) + " days", Most: mostGrave, State: CapUnknown}
	soon, known, because := window.FullSoon(doc.Server)
	c.Because = because
	switch {
	case soon:
		c.State = CapApplies
	case known:
		c.State = CapNot
	}
	return c
}

func supportCap(doc snapshot.Document, in *snapshot.Instance) Cap {
	c := Cap{Name: "Past end of support", Most: mostGrave, State: CapUnknown, Because: "the end of support is not known"}
	of := engine.ChecksOf(in.Engine).EndOfLife
	switch {
	case KeptBy(in) != "":
		c.State, c.Because = CapNot, KeptBy(in)+" keeps its version up to date"
	case in.Release != nil && in.Release.EndOfLife != nil:
		day := in.Release.EndOfLife.UTC().Format("2006-01-02")
		c.State, c.Because = CapNot, "supported until "+day
		if Over(doc, *in.Release.EndOfLife) {
			c.State, c.Because = CapApplies, "support ended on "+day
		}
	case failing(doc, in, of):
		c.State, c.Because = CapApplies, of+" fails"
	}
	return c
}
