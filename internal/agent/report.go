package agent

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"muster/domain/printable"
	"muster/internal/concurrency/pause"
	"muster/internal/httpapi/api"
	"muster/internal/intake/measure"
	"muster/internal/watch"
)

// reportEvery is how often the agent says how it is.
const reportEvery = time.Minute

// report says how the agent is every minute until ctx ends, and at once when a server goes
// down or comes back. A report that cannot be sent is not kept: the next one says more.
func (a *Agent) report(ctx context.Context) error {
	troubles := measure.Troubles{Log: a.Log, Fails: "the server does not take how the agent is", Works: "the server takes how the agent is again"}
	for ; ctx.Err() == nil; _ = pause.Unless(ctx, reportEvery, a.changed) {
		err := a.reportOnce(ctx)
		var p *Problem
		if err == nil {
			troubles.Mended(ctx, "report")
		} else if errors.As(err, &p) && p.isVerdict() { // else delivering says it
			troubles.Failed(ctx, "report", p.Code, p.Error())
		}
	}
	return ctx.Err()
}

func (a *Agent) reportOnce(ctx context.Context) error {
	body, err := a.reportNow()
	if err != nil {
		return err
	}
	_, err = a.sender.post(ctx, agentsPath, body, false)
	return err
}

// askTheTime sends the agent's state before anything is measured, because the answer has the
// server's time. Until a server answers, our own counts.
func (a *Agent) askTheTime(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	body, err := a.reportNow()
	if err != nil {
		return
	}
	skew, _ := a.sender.post(ctx, agentsPath, body, false)
	a.noteClock(ctx, skew)
}

// fellWithin is for how long a fall of a loop is reported.
const fellWithin = 24 * time.Hour

// fallen are the loops that failed lately; nil: none, which a server from before this field
// accepts as well.
func (a *Agent) fallen() *[]api.AgentLoop {
	var all []api.AgentLoop
	for _, l := range a.loops.Loops() {
		since := time.Since(l.Last)
		if l.Falls == 0 || since > fellWithin || len(all) == mostLoops {
			continue
		}
		all = append(all, api.AgentLoop{
			Loop: cut(printable.Clean(l.Name), mostLoop), Falls: int64(l.Falls), LastAt: a.Now().Add(-since).UTC(), InTrouble: l.Trouble,
		})
	}
	if all == nil {
		return nil
	}
	return &all
}

// Bounds of a report (POST /ingest/v1/agents).
const (
	mostLoops  = 100
	mostLoop   = 300
	mostGrants = 100
)

func (a *Agent) reportNow() ([]byte, error) {
	f, err := a.store.figures()
	if err != nil {
		return nil, err
	}
	report := api.AgentReport{
		Name: a.config.Name, Version: a.Version, Host: a.host, At: a.Now().UTC(),
		Buffer:  api.AgentBuffer{Bytes: f.Bytes, MaxBytes: a.config.Buffer, Records: f.Records, Facts: f.Facts, Refused: f.Refused, Dropped: f.Dropped},
		Servers: []api.AgentServer{}, Loops: a.fallen(),
	}
	if report.Buffer.Dropped == nil {
		report.Buffer.Dropped = map[string]int64{}
	}
	if !f.Oldest.IsZero() {
		report.Buffer.OldestAt = &f.Oldest
	}
	for _, w := range a.watched {
		report.Servers = append(report.Servers, w.report())
	}
	return marshal(report)
}

func (w *watched) report() api.AgentServer {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := api.AgentServer{Instance: w.ExternalID, MissingGrants: []api.AgentMissingGrant{}, Signs: []api.AgentSign{}}
	if w.trouble != (trouble{}) {
		one.Error = &api.AgentError{Class: w.trouble.Class, Detail: w.trouble.Sentence, At: w.trouble.Since.UTC()}
	}
	for _, g := range w.lacking[:min(len(w.lacking), mostGrants)] {
		one.MissingGrants = append(one.MissingGrants, api.AgentMissingGrant{Object: cut(printable.Clean(g.Object), mostWords)})
	}
	if is := w.answers; is != nil {
		one.Identity = &api.AgentIdentity{
			Engine: api.Engine(is.Engine), System: cut(printable.Clean(is.System), mostLabel), Process: cut(printable.Clean(is.Process), mostLabel),
			Role: api.AgentIdentityRole(is.Role), Pooler: api.AgentIdentityPooler(is.Pooling),
		}
	}
	one.Failing = w.failingParts()
	for _, s := range w.signs {
		one.Signs = append(one.Signs, signOf(s))
	}
	return one
}

// signOf is a sign as the server takes it. A member that says nothing is left out.
func signOf(s watch.Sign) api.AgentSign {
	said := api.AgentSign{Rule: api.AgentSignRule(s.Rule), Value: s.Value, At: s.At.UTC()}
	if s.Mount == watch.Advisory {
		said.Advisory = stated(true)
	}
	if d := s.Details; d.Sessions > 0 || d.Database != "" {
		said.Details = &api.AgentSignDetails{
			Sessions: stated(d.Sessions), Limit: stated(d.Limit), Kind: stated(d.Kind), Object: stated(d.Object), Session: stated(d.Session),
			Holder: stated(d.Holder), HolderIdle: stated(d.Idle), Database: stated(d.Database), Multixact: stated(d.Multi),
		}
	}
	return said
}

// stated is nil for what says nothing.
func stated[T comparable](v T) *T {
	var nothing T
	if v == nothing {
		return nil
	}
	return &v
}

// mostFailing is how many parts a report says fail.
const mostFailing = 60

// failingParts are the parts that could not be measured; nil: all could, which a server of an earlier
// version takes.
func (w *watched) failingParts() *[]api.AgentPartError {
	var parts []api.AgentPartError
	for _, of := range slices.Sorted(maps.Keys(w.failing)) {
		r := w.failing[of]
		one := api.AgentPartError{
			Part: api.AgentPartErrorPart(r.Part), Code: cut(printable.Clean(r.Code), mostLabel), Sentence: cut(printable.Clean(r.Sentence), mostWords),
			Since: r.Since.UTC(), At: r.At.UTC(),
		}
		if database := cut(printable.Clean(r.Database), mostLabel); database != "" {
			one.Database = &database
		}
		if parts = append(parts, one); len(parts) == mostFailing {
			break
		}
	}
	if parts == nil {
		return nil
	}
	return &parts
}
