package changes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/servers"
)

// Scope is what is looked at as a whole: a kind of things on a server, or in one of its
// databases.
type Scope struct {
	Kind     fleet.ChangeKind `json:"kind"`
	Database string           `json:"database,omitempty"`
}

func (s Scope) compare(other Scope) int {
	return cmp.Or(cmp.Compare(s.Kind, other.Kind), cmp.Compare(s.Database, other.Database))
}

// Item is one thing that a server has.
type Item struct {
	Scope
	Name   string
	Value  string
	Unit   string // of a setting
	Secret bool   // the value may hold a secret and is not to be kept
	Sent   bool   // by a feed: the name is the sender's word, which the log does not keep
}

// State is what one look at a server saw.
type State struct {
	Items []Item
	Seen  []Scope // what was looked at, also where nothing was found
	Blind []Scope // what is there and could not be looked at
	// Server is the identity of the server; empty if it is not known, or for a feed.
	Server servers.Identity
}

// Answered says who answered. Another system behind the name of a server is a change like
// another version.
func (s *State) Answered(by servers.Identity) {
	s.Server = by
	if by.System != "" {
		s.Items = append(s.Items, Item{Scope: Scope{Kind: fleet.ChangedVersion}, Name: by.SystemTitle(), Value: by.System})
	}
	s.See(fleet.ChangedReplication, []Item{{Name: "Role in replication", Value: by.Role}}, by.Role != "")
}

// startedAt says since when the server runs; nil: it is not known.
func (s *State) startedAt(at *time.Time) {
	var items []Item
	if at != nil {
		items = []Item{{Name: "Started", Value: at.UTC().Format(time.RFC3339)}}
	}
	s.See(fleet.ChangedStart, items, at != nil)
}

// startJitter is by how much two looks may differ about the start of a server that was not restarted: SQL Server and
// Oracle tell how long they have been running, so a clock that is set moves the time.
const startJitter = time.Minute

// sameStart says whether two looks saw the same start.
func sameStart(one, other string) bool {
	a, err := time.Parse(time.RFC3339, one)
	b, err2 := time.Parse(time.RFC3339, other)
	return err == nil && err2 == nil && a.Sub(b).Abs() <= startJitter
}

// MaxItems is how many things of one kind are compared.
const MaxItems = 20_000

// See adds what a look saw of one kind on the server as a whole. What could not be read, or
// is too much to compare, is not known.
func (s *State) See(kind fleet.ChangeKind, items []Item, read bool) {
	scope := Scope{Kind: kind}
	if !read || len(items) > MaxItems {
		s.Blind = append(s.Blind, scope)
		return
	}
	s.Seen = append(s.Seen, scope)
	for i := range items {
		items[i].Scope = scope
	}
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
	s.Items = append(s.Items, items...)
}

// RuleOrder is the name of an item of its own: the order of the lines of pg_hba.conf.
const RuleOrder = "order of the lines"

// shownAll are prefixes of settings of extensions, or of those that no PostgreSQL comes
// with, that are known to hold no secret.
var shownAll = []string{"auto_explain.", "pg_stat_statements.", "pgaudit.", "pg_prewarm.", "plpgsql.", "pg_hint_plan.", "pg_wait_sampling.", "pg_stat_kcache."}

// secretWords are in the names of PostgreSQL's own settings whose values may hold one:
// commands, connection strings, passphrases.
var secretWords = []string{"command", "conninfo", "passphrase", "password", "secret", "token", "credential"}

// SecretSetting says whether the value of a setting may hold a secret.
func SecretSetting(name string) bool {
	name = strings.ToLower(name)
	if strings.Contains(name, ".") { // somebody made it up: an extension, or the owner himself
		return !slices.ContainsFunc(shownAll, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	}
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// Kept is an item as it is stored: a digest in place of what may hold a secret.
type Kept struct {
	Scope
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Unit   string `json:"unit,omitempty"`
	Secret bool   `json:"secret,omitempty"`
	Sent   bool   `json:"sent,omitempty"`
	Digest string `json:"digest"`
}

// Shown is the value in the form of a change; nil if it may contain a secret.
func (k *Kept) Shown() *string {
	if k == nil || k.Secret {
		return nil
	}
	text := k.Value
	switch {
	case k.Unit == "":
	case k.Unit[0] >= '0' && k.Unit[0] <= '9': // blocks: 16384 × 8kB
		text += " × " + k.Unit
	default:
		text += " " + k.Unit
	}
	return &text
}

// called is the name as a change shows it.
func (k Kept) called() string {
	if k.Database != "" && k.Kind == fleet.ChangedExtension {
		return k.Name + " in " + k.Database
	}
	return k.Name
}

// known is what was last seen of a server.
type known struct {
	Items []Kept  `json:"items"`
	Seen  []Scope `json:"seen"`
}

// difference is one thing that is not as it was.
type difference struct{ before, after *Kept } // nil: it was not there; it is gone

// either is the item, as it is or was.
func (d difference) either() Kept {
	if d.after != nil {
		return *d.after
	}
	return *d.before
}

type identity struct {
	Scope
	name string
}

// after is what is known of a server once one more look has seen it, and what
// differs; digest makes the digest of an item.
func (before known) after(seen State, digest func(Item) string) (now known, differ []difference) {
	was := make(map[identity]*Kept, len(before.Items))
	for i := range before.Items {
		k := &before.Items[i]
		was[identity{k.Scope, k.Name}] = k
	}
	wasSeen, isSeen, blind := setOf(before.Seen), setOf(seen.Seen), setOf(seen.Blind)
	now.Seen = slices.Clone(seen.Seen)
	for _, scope := range before.Seen {
		if blind[scope] && !isSeen[scope] {
			now.Seen = append(now.Seen, scope)
		}
	}
	for _, item := range seen.Items {
		k := Kept{Scope: item.Scope, Name: item.Name, Value: item.Value, Unit: item.Unit, Secret: item.Secret, Sent: item.Sent, Digest: digest(item)}
		if k.Secret {
			k.Value = ""
		}
		now.Items = append(now.Items, k)
		id := identity{k.Scope, k.Name}
		old := was[id]
		delete(was, id)
		switch {
		case old != nil && k.Kind == fleet.ChangedStart && sameStart(old.Value, k.Value):
		case old != nil && old.Digest != k.Digest:
			differ = append(differ, difference{old, &k})
		case old == nil && wasSeen[k.Scope] && isSeen[k.Scope] && k.Kind != fleet.ChangedSetting:
			differ = append(differ, difference{nil, &k})
		}
	}
	for _, old := range was {
		switch {
		case blind[old.Scope] && !isSeen[old.Scope], old.Kind == fleet.ChangedSetting:
			now.Items = append(now.Items, *old)
		case isSeen[old.Scope] && wasSeen[old.Scope]:
			differ = append(differ, difference{old, nil})
		}
	}
	slices.SortFunc(now.Items, func(a, b Kept) int { return cmp.Or(a.compare(b.Scope), cmp.Compare(a.Name, b.Name)) })
	slices.SortFunc(now.Seen, Scope.compare)
	return now, inOrder(differ)
}

// inOrder sorts differences. A new order of the lines of pg_hba.conf is reported only if
// nothing else of them changed.
func inOrder(differ []difference) []difference {
	lines := slices.ContainsFunc(differ, func(d difference) bool { k := d.either(); return k.Kind == fleet.ChangedHBA && k.Name != RuleOrder })
	if lines {
		differ = slices.DeleteFunc(differ, func(d difference) bool { k := d.either(); return k.Kind == fleet.ChangedHBA && k.Name == RuleOrder })
	}
	slices.SortFunc(differ, func(x, y difference) int {
		a, b := x.either(), y.either()
		return cmp.Or(a.compare(b.Scope), cmp.Compare(a.Name, b.Name))
	})
	return differ
}

func setOf(scopes []Scope) map[Scope]bool {
	set := make(map[Scope]bool, len(scopes))
	for _, scope := range scopes {
		set[scope] = true
	}
	return set
}
