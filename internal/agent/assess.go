package agent

import (
	"context"
	"time"

	"muster/domain/instant"
	"muster/internal/assessment"
	"muster/internal/assessment/inspection"
	"muster/internal/concurrency/pause"
	"muster/internal/httpapi/api"
	"muster/internal/intake/measure"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// retryAssessment is after how long a server is assessed again that could not be reached.
const retryAssessment = 15 * time.Minute

// assess assesses a server until ctx ends.
func (w *watched) assess(ctx context.Context) error {
	troubles := measure.Troubles{Log: w.agent.Log.With("server", w.ExternalID), Fails: "a server cannot be assessed", Works: "a server is assessed again"}
	for {
		w.mu.Lock()
		due := w.state.AssessedAt.Add(w.AssessEvery)
		w.mu.Unlock()
		if wait := due.Sub(w.agent.Now()); wait > 0 {
			if err := pause.For(ctx, min(wait, time.Hour)); err != nil {
				return err
			}
			continue
		}
		ok, err := w.assessOnce(ctx)
		troubles.Note(ctx, "assessment", err)
		if !ok {
			if err := pause.For(ctx, pause.Jittered(retryAssessment)); err != nil {
				return err
			}
		}
	}
}

// assessOnce assesses a server and keeps what was found; ok is false where nothing was. The error
// of a server that cannot be reached is a *servers.ConnectionError.
func (w *watched) assessOnce(ctx context.Context) (ok bool, err error) {
	target, err := w.agent.config.target(w.Server)
	if err != nil {
		return false, err
	}
	inspector := w.agent.Inspectors[w.Engine]
	at := instant.Cut(w.agent.Now())
	limited, end := context.WithTimeout(ctx, inspection.LookLimit)
	defer end()
	found, state := inspector.Assess(limited, target)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case found.Outcome == snapshot.OutcomeUnreachable:
		return false, &servers.ConnectionError{Class: found.ErrorClass, Sentence: found.Error}
	}
	classified := map[string]snapshot.Classification{}
	for _, database := range found.Databases {
		if database.AllowsConn && w.Classify != assessment.ClassifyOff {
			classified[database.Name] = inspector.Classify(limited, target, database.Name, w.Classify)
		}
	}
	if ctx.Err() != nil { // what was found may only say that we were stopped
		return false, ctx.Err()
	}
	sent := sentAssessment(w.ExternalID, w.Engine, at, found, state, classified)
	if left := fit(&sent, mostFound); len(left) > 0 {
		w.agent.Log.WarnContext(ctx, "where personal data lies is not sent of databases with too many tables", "server", w.ExternalID, "databases", len(left))
	}
	body, err := marshal(api.AssessmentBatch{Assessments: []api.SentAssessment{sent}})
	if err != nil {
		return false, err
	}
	err = w.keepAssessment(at, body, found, sent)
	return err == nil, err
}

// keepAssessment keeps it with the databases that it names: the server takes none of a
// database that it does not know.
func (w *watched) keepAssessment(at time.Time, body []byte, found snapshot.Assessment, sent api.SentAssessment) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	after := &w.state
	if names := databasesOf(found); len(names) > 0 { // else they could not be listed
		after = w.state.with(names, at)
	}
	next := *after
	next.AssessedAt = at
	if sent.Version != nil {
		next.Version = *sent.Version
	}
	announcement, err := w.announcement(&next)
	if err != nil {
		return err
	}
	var records []record
	if next.Announced != w.state.Announced {
		records = append(records, announcement)
	}
	records = append(records, record{Kind: assessmentFact, Server: w.ExternalID, At: at, Body: body})
	if err := w.agent.store.keep(change{records: records, server: w.ExternalID, state: &next}); err != nil {
		return err
	}
	w.state = next
	w.agent.wake()
	return nil
}

// databasesOf are the names of the databases that the fleet takes.
func databasesOf(found snapshot.Assessment) (names []string) {
	for _, d := range found.Databases {
		if isNameable(d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}
