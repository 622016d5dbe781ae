package watch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/internal/measurements/blocking"
)

// held is who holds up the sessions of a sign, by the newest sample of the episode that lasts; nil:
// that is not known.
type held struct {
	episode blocking.Episode
	tree    blocking.Tree
	at      time.Time
	by      *blocking.Held
}

// holders looks up who holds up the sessions of the signs that are about a wait for a lock and go on.
func (r *round) holders(ctx context.Context, signs []judged) (map[subject]*held, error) {
	found := make(map[subject]*held)
	for _, s := range signs {
		if s.Rule != LockWait || s.ended() {
			continue
		}
		e, tree, at, ok, err := blocking.Latest(ctx, r.DB, s.OrganizationID, s.InstanceID, s.Mount == Advisory, r.now.Add(-Fresh))
		if err != nil {
			return nil, err
		}
		if by := blocking.Holding(tree.Nodes); ok && by != nil {
			found[s.subject()] = &held{episode: e, tree: tree, at: at, by: by}
		}
	}
	return found, nil
}

// LockWaitFiring is what the watch tells of sessions of a server that wait for a lock, by a tree of an episode, whose time it
// is: its key, its title and the tree that the event keeps. When it began and ended is left to the caller.
func LockWaitFiring(instance uuid.UUID, server string, e blocking.Episode, tree blocking.Tree, at time.Time) alert.Firing {
	of := ruleOf(LockWait)
	f := alert.Firing{
		Key: subject{Rule: LockWait, Instance: instance}.key(), Title: server + ": sessions wait for a lock", Description: of.Advice, Severity: alert.Warning,
		Rule: &alert.Rule{ID: of.ID, Name: of.Name, Unit: of.Unit}, InstanceID: instance,
	}
	if by := blocking.Holding(tree.Nodes); by != nil {
		(&held{episode: e, tree: tree, at: at, by: by}).tell(&f, server)
	}
	return f
}

// tell puts into a firing about a server who holds its sessions up.
func (h *held) tell(f *alert.Firing, server string) {
	f.Title = server + ": " + h.title()
	f.Blocking, f.People = h.frozen()
}

// title says who blocks whom: "session 24749, idle in transaction for 4m16s, blocks 12 sessions on
// table public.orders". It names no user, application or client: the title stays in the log, and alert.Named puts them in
// where they may be seen.
func (h *held) title() string {
	root := h.by.Root
	var said string
	switch {
	case len(h.by.Cycle) > 0:
		said = "sessions " + strings.Join(h.by.Cycle[:min(len(h.by.Cycle), named)], ", ")
		if more := len(h.by.Cycle) - named; more > 0 {
			said += fmt.Sprintf(" and %d more", more)
		}
		said += " wait for each other"
		if outside := h.by.Behind + 1 - len(h.by.Cycle); outside > 0 {
			said += " and block " + h.blocked(outside)
		}
		return said + h.on()
	case root.Kind == blocking.Prepared:
		said = strings.TrimSpace("prepared transaction" + strings.TrimPrefix(root.Session, "prepared"))
	case root.Kind == blocking.Autovacuum:
		said = "autovacuum (session " + root.Session + ")"
	case root.Kind == blocking.Client:
		said = "session " + root.Session
	default:
		said = string(root.Kind) + " session " + root.Session
	}
	since := root.Transaction
	if root.Idle || since == nil {
		since = root.Changed
	}
	state := root.State
	if root.Idle {
		state = "idle in transaction"
	}
	if state != "" && since != nil {
		said += ", " + state + " for " + alert.Length(max(h.at.Sub(*since), 0)) + ","
	}
	return said + " blocks " + h.blocked(h.by.Behind) + h.on()
}

// on is what is waited for; empty: that is not known.
func (h *held) on() string {
	if h.by.Object == "" {
		return ""
	}
	if h.episode.Advisory {
		return " on advisory lock " + shortened(h.by.Object)
	}
	return " on " + shortened(h.by.Object)
}

// blocked is how many sessions are. If more wait than a tree has, nobody knows whom the others wait for.
func (h *held) blocked(n int) string {
	if h.tree.Omitted > 0 {
		return fmt.Sprintf("at least %d of %d waiting sessions", n, blocking.Waiting(h.tree.Nodes)+h.tree.Omitted)
	}
	return sessions(n)
}

func sessions(n int) string {
	if n == 1 {
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}

// frozen is the tree as the alert keeps it: without texts and without names of people. Those are beside it.
func (h *held) frozen() (*alert.Blocking, []alert.Person) {
	var people []alert.Person
	nodes, omitted := blocking.First(h.tree.Nodes, alert.MaxBlockedSessions)
	out := &alert.Blocking{EpisodeID: h.episode.ID, At: h.at.UTC(), Omitted: h.tree.Omitted + omitted}
	for _, n := range nodes {
		who := alert.Person{Session: n.Session, Began: n.Began, User: n.User, Application: n.Application, Client: n.Client}
		if who.Known() {
			people = append(people, who)
		}
		out.Sessions = append(out.Sessions, alert.BlockedSession{
			Session: n.Session, Kind: string(n.Kind), Began: n.Began, Database: n.Database, State: n.State, Idle: n.Idle, StatementID: n.StatementID,
			Transaction: n.Transaction, Changed: n.Changed, Waits: n.Waits, For: n.For, Lock: n.Lock, Mode: n.Mode, Object: n.Object, Advisory: n.Advisory,
		})
	}
	return out, people
}
