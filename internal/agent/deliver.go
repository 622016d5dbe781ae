package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"muster/internal/pause"
)

const (
	// mostBytes bounds a call; the server takes 4 MiB.
	mostBytes = 3 << 20
	// heldPause is how long statements of an instance wait that another sender holds, and
	// heldFor how long each of them does: whoever held it may be gone meanwhile, and then
	// these are the ones that nobody counted.
	heldPause = 30 * time.Second
	heldFor   = 10 * time.Minute
	// unknownFor is how long measurements wait for an instance that the server does not
	// know: it is announced again.
	unknownFor = 10 * time.Minute
	// refusedPause is how long facts lie aside that the server refused.
	refusedPause = time.Hour
	// aheadPause is how long measurements wait whose time the server takes for the future.
	aheadPause = time.Minute
)

// deliver sends what is kept until ctx ends.
func (a *Agent) deliver(ctx context.Context) error {
	failures := 0
	for {
		sentAny, err := a.deliverNext(ctx)
		wait := time.Duration(0)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			wait = pauseAfter(failures, err)
			failures++
			a.complain(ctx, err)
		case !sentAny:
			failures, wait = 0, idle
		default:
			failures = 0
			a.recovered(ctx)
		}
		var err2 error
		if failures > 0 {
			err2 = pause.For(ctx, wait)
		} else {
			err2 = pause.Unless(ctx, wait, a.work)
		}
		if err2 != nil {
			return err2
		}
		if a.Now().Sub(a.retried) > refusedPause {
			if err := a.store.retry(); err != nil {
				return err
			}
			a.retried = a.Now()
		}
	}
}

// idle is how long the agent does nothing where nothing is to be sent; what is kept wakes it.
const idle = 5 * time.Second

// deliverNext sends one call. Its error is one after which a pause helps.
func (a *Agent) deliverNext(ctx context.Context) (sentAny bool, err error) {
	now := a.Now()
	records, err := a.store.next(mostBytes, func(r record) bool { return a.waits[waitKey(r)].After(now) })
	if err != nil || len(records) == 0 {
		return false, err
	}
	path, body := call(records)
	skew, err := a.sender.post(ctx, path, body)
	a.noteClock(ctx, skew)
	var p *Problem
	switch {
	case err == nil:
		return true, a.store.sent(records)
	case !errors.As(err, &p):
		return false, err
	case p.Status == http.StatusRequestEntityTooLarge && len(records) > 1:
		return a.halve(ctx, records)
	case p.Status == http.StatusUnprocessableEntity || p.Status == http.StatusConflict || p.Status == http.StatusBadRequest || p.Status == http.StatusRequestEntityTooLarge:
		return true, a.settle(ctx, records, p)
	}
	return false, err // away, overloaded, the token refused: all stays
}

// halve sends the first half of what was too large together.
func (a *Agent) halve(ctx context.Context, records []record) (bool, error) {
	half := records[:len(records)/2]
	path, body := call(half)
	_, err := a.sender.post(ctx, path, body)
	var p *Problem
	switch {
	case err == nil:
		return true, a.store.sent(half)
	case errors.As(err, &p) && p.Status == http.StatusRequestEntityTooLarge && len(half) > 1:
		return a.halve(ctx, half)
	case errors.As(err, &p) && p.Status == http.StatusRequestEntityTooLarge:
		return true, a.settle(ctx, half, p)
	}
	return false, err
}

// waitKey is what waits together: the statements of an instance that is held, or all of
// one that is not known.
func waitKey(r record) string { return strconv.Itoa(int(r.Kind)) + " " + r.Server }

// settle decides what becomes of records that the server refused as they are. The call was
// all or nothing: what is not at fault is sent again.
func (a *Agent) settle(ctx context.Context, records []record, p *Problem) error {
	if records[0].Kind.isFact() {
		a.Log.WarnContext(ctx, "the server refuses what was found", "server", records[0].Server, "problem", p.Error())
		return a.store.refuse(records[0])
	}
	faults := blame(records, p)
	if len(faults) == 0 { // the server does not say which
		if len(records) > 1 {
			return a.settleOneByOne(ctx, records)
		}
		faults = map[int]string{0: p.Code}
	}
	now := a.Now()
	dropped := map[string][]record{}
	for i, code := range faults {
		r := records[i]
		age := now.Sub(r.At)
		switch {
		case code == "instance_held" && age < heldFor:
			a.wait(r, heldPause)
		case code == "instance_held":
			dropped[droppedHeld] = append(dropped[droppedHeld], r)
		case code == "assessed_by_collector":
			dropped[droppedCollected] = append(dropped[droppedCollected], r)
		case code == "time_in_future":
			a.wait(r, aheadPause)
		case (code == "unknown_instance" || code == "unknown_database") && age < unknownFor:
			a.wait(r, heldPause)
			a.announceAgain(ctx, r.Server)
		case code == "unknown_instance" || code == "unknown_database":
			dropped[droppedUnknown] = append(dropped[droppedUnknown], r)
		default:
			dropped[droppedRefused] = append(dropped[droppedRefused], r)
		}
	}
	for why, gone := range dropped {
		if err := a.store.drop(gone, why); err != nil {
			return err
		}
		a.Log.WarnContext(ctx, "measurements are dropped", "why", why, "records", len(gone), "server", gone[0].Server, "problem", p.Error())
	}
	return nil
}

func (a *Agent) wait(r record, until time.Duration) { a.waits[waitKey(r)] = a.Now().Add(until) }

// settleOneByOne finds out which of the records the server refuses.
func (a *Agent) settleOneByOne(ctx context.Context, records []record) error {
	for _, r := range records {
		path, body := call([]record{r})
		_, err := a.sender.post(ctx, path, body)
		var p *Problem
		switch {
		case err == nil:
			err = a.store.sent([]record{r})
		case errors.As(err, &p) && p.Status >= 400 && p.Status < 500 && p.Status != http.StatusTooManyRequests:
			err = a.settle(ctx, []record{r}, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lists are the members of a call that records of a kind are in.
var lists = map[kind]string{hosts: "hosts", sessions: "sessions", statements: "statements"}

// call is what records are sent as: a fact is a call by itself.
func call(records []record) (path string, body []byte) {
	switch records[0].Kind {
	case fleetFact:
		return "/ingest/v1/fleet", records[0].Body
	case assessmentFact:
		return "/ingest/v1/assessments", records[0].Body
	}
	var out bytes.Buffer
	for _, k := range []kind{hosts, sessions, statements} {
		var items [][]byte
		for _, r := range records {
			if r.Kind == k {
				items = append(items, bytes.TrimSuffix(bytes.TrimPrefix(r.Body, []byte("[")), []byte("]")))
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
	return "/ingest/v1/samples", append(out.Bytes(), '}')
}

// blame says which records a problem names, each with a code. An instance that is held is
// named by each of its items.
func blame(records []record, p *Problem) map[int]string {
	var of [statements + 1][]int // by kind, the record of each item
	for i, r := range records {
		for range itemsIn(r.Body) {
			of[r.Kind] = append(of[r.Kind], i)
		}
	}
	faults := map[int]string{}
	for _, e := range p.Errors {
		parts := strings.Split(strings.TrimPrefix(e.Pointer, "#/"), "/")
		if len(parts) < 2 {
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
