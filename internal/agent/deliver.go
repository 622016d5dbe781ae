package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"muster/internal/concurrency/pause"
)

const (
	// heldPause is how long statements of an instance wait if another sender holds it, and
	// heldFor how long each of them does: the holder may be gone meanwhile, and then nobody
	// else has counted these.
	heldPause = 10 * time.Second
	heldFor   = 10 * time.Minute
	// unknownFor is how long measurements wait for an instance that the server does not know,
	// while it is announced again, or that the token may not write.
	unknownFor = 10 * time.Minute
	// refusedPause is how long facts lie aside that the server refused.
	refusedPause = time.Hour
	// aheadPause is how long measurements wait whose time the server takes for the future;
	// it takes five minutes of it, and those beyond ahead are not even sent.
	aheadPause = time.Minute
	ahead      = 4 * time.Minute
	// olderPause is how long measurements wait that have a member which the server does not
	// know: it is older than this agent, and takes them once it is upgraded.
	olderPause = time.Minute
)

// bufferedAfter is how old an assessment is that waited in the buffer: Muster then counts it
// for its own time although it is recorded days later.
const bufferedAfter = time.Hour

// eventBudget is the budget that limits facts, and not measurements: those go on while facts
// wait.
const eventBudget = "events"

// unknownField is the code of such a member.
const unknownField = "unknown_field"

// deliver sends what is kept until ctx ends.
func (a *Agent) deliver(ctx context.Context) error {
	failures := 0
	for {
		if a.Now().Sub(a.retried).Abs() > refusedPause {
			a.store.lift()
			clear(a.called) // the token may be another
			if err := a.store.retry(); err == nil {
				a.retried = a.Now()
			}
		}
		sentAny, err := a.deliverNext(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case err != nil:
			a.complain(ctx, err)
			err = pause.For(ctx, pauseAfter(failures, err))
			failures++
		case sentAny:
			a.delivery.Mended(ctx, "delivery")
			failures = 0
		default:
			err = pause.Unless(ctx, idle, a.work)
			failures = 0
		}
		if err != nil {
			return err
		}
	}
}

// idle is how long the agent does nothing if there is nothing to send; new data wakes it.
const idle = 5 * time.Second

// deliverNext sends what is next. Its error is one after which a pause helps.
func (a *Agent) deliverNext(ctx context.Context) (sentAny bool, err error) {
	now := a.Now()
	records, err := a.store.next(func(r record) bool {
		return a.waits[waitKey(r)].After(now) || !r.Kind.isFact() && r.At.After(now.Add(ahead))
	})
	if err != nil || len(records) == 0 {
		return false, err
	}
	return true, a.send(ctx, records)
}

// send sends records in one call, and decides what becomes of them. With an error all
// stay that are not settled.
func (a *Agent) send(ctx context.Context, records []record) error {
	path, body := a.call(records)
	skew, err := a.sender.post(ctx, path, body, records[0].Kind == assessmentFact && a.Now().Sub(records[0].At) > bufferedAfter)
	a.noteClock(ctx, skew)
	var p *Problem
	switch {
	case err == nil:
		return a.taken(ctx, records)
	case !errors.As(err, &p):
		return err
	case p.Status == http.StatusRequestEntityTooLarge && len(records) > 1:
		return a.send(ctx, records[:len(records)/2])
	case p.isVerdict():
		return a.settle(ctx, records, p)
	case p.Budget != nil && p.Budget.Name == eventBudget:
		for _, r := range records {
			a.waits[waitKey(r)] = a.Now().Add(max(p.RetryAfter, longestPause))
			a.facts.Failed(ctx, r.what(), p.Code, p.Error())
		}
		return nil
	}
	return err // away, overloaded, the token refused
}

// taken deletes records that the server has.
func (a *Agent) taken(ctx context.Context, records []record) error {
	for _, r := range records {
		a.drops.Mended(ctx, r.what())
		a.older.Mended(ctx, r.what())
		a.facts.Mended(ctx, r.what())
	}
	w := a.watching(records[0].Server)
	if records[0].Kind != fleetFact || w == nil {
		return a.store.sent(records)
	}
	delete(a.strangers, w.ExternalID)
	if _, otherwise := a.called[w.ExternalID]; !otherwise {
		a.names.Mended(ctx, records[0].what())
	}
	return w.announced(records)
}

// waitKey identifies data that waits together: the statements of a held instance, or all data
// of an unknown one.
func waitKey(r record) string { return strconv.Itoa(int(r.Kind)) + " " + r.Server }

// settle decides about records that the server refused as they are. The call was all or
// nothing: records without a fault are sent again.
func (a *Agent) settle(ctx context.Context, records []record, p *Problem) error {
	if records[0].Kind.isFact() {
		return a.settleFact(ctx, records[0], p)
	}
	if a.isStrange(ctx, records, p) {
		return nil
	}
	faults := blame(records, p)
	if len(faults) == 0 { // the server does not say which
		if len(records) > 1 {
			return a.sendOneByOne(ctx, records)
		}
		faults = map[int]string{0: p.Code}
	}
	dropped, unknown := map[string][]record{}, map[string]bool{}
	for i, code := range faults {
		r := records[i]
		why, patience, until := verdict(code)
		if a.refusedFor(r) >= patience {
			dropped[why] = append(dropped[why], r)
			continue
		}
		a.waits[waitKey(r)] = a.Now().Add(until)
		if code == unknownField {
			a.older.Failed(ctx, r.what(), code, p.Error())
		}
		unknown[r.Server] = unknown[r.Server] || why == droppedUnknown
	}
	for server, is := range unknown {
		if is {
			a.announceAgain(ctx, server)
		}
	}
	for why, gone := range dropped {
		if err := a.store.drop(gone, why); err != nil {
			return err
		}
		for _, r := range gone {
			a.drops.Failed(ctx, r.what(), why, why+": "+p.Error())
		}
	}
	return nil
}

// refusals are of what waits together.
type refusals struct{ since, last time.Time }

// refusedFor is how long the server has refused a record, not counting the time before it was
// measured and the time in which the server could not be asked. Data that was kept over days is
// not dropped for its age. Refusals that are ten minutes apart are unrelated.
func (a *Agent) refusedFor(r record) time.Duration {
	key, now := waitKey(r), a.Now()
	of, known := a.refused[key]
	if !known || now.Sub(of.last) > unknownFor {
		of.since = now
	}
	of.last = now
	a.refused[key] = of
	if r.At.After(of.since) {
		return now.Sub(r.At)
	}
	return now.Sub(of.since)
}

// verdict is what becomes of measurements that are refused with a code: why they are
// dropped, after how long, and until when they wait before that.
func verdict(code string) (why string, patience, until time.Duration) {
	switch code {
	case "instance_held":
		return droppedHeld, heldFor, heldPause
	case "assessed_by_collector":
		return droppedCollected, 0, 0
	case "time_in_future":
		return droppedRefused, math.MaxInt64, aheadPause
	case unknownField:
		return droppedRefused, math.MaxInt64, olderPause
	case "unknown_instance", "unknown_database":
		return droppedUnknown, unknownFor, heldPause
	case "outside_token", "forbidden": // the second by servers of before
		return droppedForbidden, unknownFor, heldPause
	}
	return droppedRefused, 0, 0
}

// settleFact lays a fact aside, unless it can be sent as the server takes it.
func (a *Agent) settleFact(ctx context.Context, r record, p *Problem) error {
	if a.isCalledOtherwise(ctx, r, p) {
		return nil
	}
	a.facts.Failed(ctx, r.what(), p.Code, p.Error())
	if err := a.store.refuse(r); err != nil {
		return err
	}
	if r.Kind == assessmentFact && (p.names("unknown_instance") || p.names("unknown_database")) {
		a.announceAgain(ctx, r.Server)
	}
	return nil
}

// sendOneByOne finds out which of the records the server refuses.
func (a *Agent) sendOneByOne(ctx context.Context, records []record) error {
	for _, r := range records {
		if err := a.send(ctx, []record{r}); err != nil {
			return err
		}
	}
	return nil
}

// lists are the members of a call that records of a kind are in.
var lists = map[kind]string{hosts: "hosts", sessions: "sessions", statements: "statements", blocks: "blocking", serverSamples: "servers", replications: "replication", backupLooks: "backups", roomLooks: "room"}

// call is what records are sent as: a fact is a call by itself.
func (a *Agent) call(records []record) (path string, body []byte) {
	switch records[0].Kind {
	case fleetFact:
		return fleetPath, a.asCalled(records[0])
	case assessmentFact:
		return assessmentsPath, records[0].Body
	}
	var out bytes.Buffer
	for _, k := range []kind{hosts, sessions, statements, blocks, serverSamples, replications, backupLooks, roomLooks} {
		var items [][]byte
		for _, r := range records {
			if r.Kind == k {
				items = append(items, bytes.TrimSuffix(bytes.TrimPrefix(a.withoutStrangers(r), []byte("[")), []byte("]")))
			}
		}
		if len(items) == 0 {
			continue
		}
		separator := ","
		if out.Len() == 0 {
			separator = "{"
		}
		fmt.Fprintf(&out, "%s%q:[%s]", separator, lists[k], bytes.Join(items, []byte(",")))
	}
	return samplesPath, append(out.Bytes(), '}')
}

// blame says which records a problem names, each with a code. An instance that is held is
// named by each of its items.
func blame(records []record, p *Problem) map[int]string {
	of := map[kind][]int{} // by kind, the record of each item
	for i, r := range records {
		for range itemsIn(r.Body) {
			of[r.Kind] = append(of[r.Kind], i)
		}
	}
	faults := map[int]string{}
	for _, e := range p.Errors {
		parts := strings.Split(strings.TrimPrefix(e.Pointer, "#/"), "/")
		if len(parts) < 2 { // a list that the server does not know
			for k, name := range lists {
				for _, i := range of[k] {
					if name == parts[0] {
						faults[i] = e.Code
					}
				}
			}
			continue
		}
		n, err := strconv.Atoi(parts[1])
		for k, name := range lists {
			if err == nil && name == parts[0] && n >= 0 && n < len(of[k]) {
				faults[of[k][n]] = e.Code
			}
		}
	}
	return faults
}
