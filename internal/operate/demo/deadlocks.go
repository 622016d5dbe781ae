package demo

import (
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/blocking"
)

// deadlocksAt are the times of an organization's deadlocks at heldServer, the oldest first: one every third day, and one shortly
// before somebody first looks. Each is in a minute in which coarse samples look, too.
func deadlocksAt(made time.Time) []time.Time {
	made = made.UTC()
	midnight, draws := made.Truncate(day), newChance(heldServer, heldDatabase, "deadlock")
	var all []time.Time
	for n := int64(-alertDays + 1); n < 0; n++ {
		if n%3 == -2 {
			all = append(all, midnight.Add(time.Duration(n)*day+8*time.Hour+time.Duration(draws.draw(n)*9*float64(time.Hour))).Truncate(coarse).Add(-time.Minute))
		}
	}
	return append(all, made.Add(-40*time.Minute).Truncate(coarse).Add(-time.Minute))
}

// deadlocks is how many a database had at a look; nil: its server does not tell.
func (a *agent) deadlocks(d *database, at time.Time) *int64 {
	if a.Name != heldServer || d.name != heldDatabase {
		return nil
	}
	var n int64
	if slices.ContainsFunc(a.locked, at.Equal) {
		n = 1
	}
	return &n
}

// sides are a deadlock as a look at the sessions saw it: two transactions changed two orders, each in its own order.
func sides(server uuid.UUID, at time.Time, texts bool) blocking.Sample {
	first := 20000 + int(newChance(heldServer, "pid").draw(minuteOf(at))*9000)
	node := func(n, other int, application, client, statement string, waited time.Duration) blocking.Node {
		session, began, waits := at.Add(-37*time.Minute), at.Add(-waited-420*time.Millisecond), at.Add(-waited)
		if !texts {
			statement = ""
		}
		return blocking.Node{
			Session: strconv.Itoa(first + n), Kind: blocking.Client, Began: &session, User: "shop", Application: application, Client: client, Database: heldDatabase,
			State: "active", Statement: statement, Transaction: &began, Changed: &waits,
			Waits: &waits, For: []string{strconv.Itoa(first + other)}, Lock: "transactionid", Mode: "ShareLock", Object: "table public.orders",
		}
	}
	return blocking.Sample{
		Instance: server, At: at, Interval: looks, Deadlock: &blocking.Deadlock{Database: heldDatabase, Seen: true, Count: 1},
		Nodes: []blocking.Node{
			node(0, 7, "checkout", "10.4.1.2", "UPDATE orders SET status = ? WHERE id = ?", 900*time.Millisecond),
			node(7, 0, "shop-api", "10.4.1.4", "UPDATE orders SET state = ?, updated_at = now() WHERE id = ? AND state = ?", 300*time.Millisecond),
		},
	}
}

// deadlocked are the sides of the deadlocks from one time to another.
func deadlocked(made time.Time, server uuid.UUID, texts bool, from, to time.Time) (out []blocking.Sample) {
	for _, at := range deadlocksAt(made) {
		if !at.Before(from) && at.Before(to) {
			out = append(out, sides(server, at, texts))
		}
	}
	return out
}
