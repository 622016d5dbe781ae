package trait

import (
	"regexp"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/quote"
	"muster/internal/engine/tuning"
	"muster/internal/intake/sqltext"
	"muster/internal/measurements/waitclass"
)

// Engine is one database engine.
type Engine struct {
	Name  fleet.Engine
	Title string // what people call it
	Words Words
	// VolumesOnly: the engine encrypts no file itself, and the encryption of a volume is not
	// visible over SQL.
	VolumesOnly bool
	// Feed is how the release feed knows it; nil: the feed does not.
	Feed *Feed
	// Connected is how Muster connects to its servers by itself; nil: it does not.
	Connected *Connected
	// Measured is how samples of its sessions and statements are read; nil if tiles and
	// reports do not show the engine.
	Measured *Measured
	// Dialect reads the texts of its statements; nil: none are kept.
	Dialect *sqltext.Dialect
	// Hints hold its settings against machine and load; nil: there are none.
	Hints *tuning.Hints
	// Checks is how its checks are written; nil: there are none.
	Checks *Checks
}

// Words are an engine's own words, as reports print them.
type Words struct {
	Superuser    string            // who may do everything
	Release      string            // a release within a major
	ReleaseNeeds string            // a sentence: what an upgrade to such a release needs
	Editions     map[string]string // the editions by the server's own name of each; others go by that name
}

// Edition returns an edition in words, by the server's name of it.
func (w Words) Edition(name string) string {
	if edition, ok := w.Editions[name]; ok {
		return edition
	}
	return name
}

// Connected is how Muster connects to an engine's servers, and what it learns there.
type Connected struct {
	// Account are the steps that make the account that Muster connects with, in sentences.
	Account []string
	// Mends are what to do about an error of a connection, by its class: a sentence for each
	// class on which the general words say too little.
	Mends map[string]string
	// HostRules: the server has rules about the hosts that an account may sign in from. Without
	// them an account signs in from every host or from none.
	HostRules bool
	// FollowsRoles: an assessment names who reads a table, through which roles. Else it counts
	// who was granted the table.
	FollowsRoles bool
	// Grants are what its account needs.
	Grants Grants
}

// Measured is how an engine's samples are read.
type Measured struct {
	// Waits classify the engine's names of waits. The first class that matches counts.
	Waits      []waitclass.Class
	Statements Statements
}

// Statements are the rules by which tiles and reports show the samples of an engine's
// statements. The zero value has no rule.
type Statements struct {
	// Least is in how many samples of a bucket a statement must be to count (readings, 17).
	Least uint64
	// OwnMaxima: a sample has the longest execution of its interval (readings, 16). Else the
	// longest is the mean.
	OwnMaxima bool
	// Shown is how far back they are shown; 0: as far as they are kept.
	Shown time.Duration
}

// Hides says whether statements that were sampled at a time are not shown any more.
func (s Statements) Hides(at, now time.Time) bool { return s.Shown > 0 && at.Before(now.Add(-s.Shown)) }

// Checks is how an engine's checks are written. The definitions are in the folder checks.
type Checks struct {
	ID   *regexp.Regexp
	Form string // of an id, in words
	// Fed checks are those that a feed may answer. No server of the engine has met them.
	Fed   bool
	Azure bool // a check may say why it does not apply to Azure SQL Database
	// WeakSignIn are the ids of checks that fail where a weak or unencrypted sign-in is possible.
	WeakSignIn []string
	// Outdated is the check that fails where an update of the version is due; it may also fail for EndOfLife's reason.
	Outdated string
	// EndOfLife is the check that fails past the end of support; empty: Outdated fails.
	EndOfLife string
	// Backup is the check that fails where there is no recent backup; empty: no check tells.
	Backup string
	// Accounts are the checks that name accounts by a power that an account is also listed with.
	Accounts []AccountCheck
	// Alerts are the checks that judge what alerts judge, too.
	Alerts []AlertCheck
	// RemoteSuperuser is the sign-in of a superuser from another host.
	RemoteSuperuser RemoteSuperuser
	Quote           quote.Dialect // writes names and strings into the statements that mend a fault
	// Right is what lets an account read what a Fed check reads; nil: Rights of the check say so.
	Right func(kind, name string) string
}

// AccountCheck is a check that has to name each account with one of these powers.
type AccountCheck struct {
	Check      string
	Attributes []string // of accounts that are no superusers
	Roles      []string // that it is a member of
	Superuser  bool     // it names superusers
	Except     []string // names, or their beginnings, that the check leaves out
}

// AlertCheck is a check that fails while an alert is open whose title or rule has one of the words, in small letters. The
// words are those of no alert on another matter.
type AlertCheck struct {
	Check string
	Words []string
	From  int // percent from which the check fails, if it has such a limit: an alert with a lower one is on another matter
}

// RemoteSuperuser is what checks say of a superuser that may sign in from another host.
type RemoteSuperuser struct {
	Checks    []string // their ids; none: it is not known
	Driver    string   // in words, where one of them fails
	Control   string   // where all pass
	Treatment string   // what to do
}

// What a Fed check may read.
const (
	ReadView      = "view"
	ReadParameter = "parameter"
)

// Usual are the words of engines that have none of their own.
var Usual = Words{
	Superuser:    "superuser",
	Release:      "minor release",
	ReleaseNeeds: "A minor release needs a restart and no migration.",
}
