package fleet

import (
	"muster/internal/assessment"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/servers"
	"muster/internal/watch/status"
)

// unresolved is why the last assessment failed; nil: it did not, or it failed before the server, which is
// up, came up.
func unresolved(state assessment.TargetState, is status.Status) *assessment.Failure {
	e := state.LastError
	if e == nil || e.Class != servers.ClassNotAllowed && is.State == status.Up && !is.WasUp(e.At) {
		return nil
	}
	return e
}

func showPart(p status.PartState) api.InstancePart {
	shown := api.InstancePart{Part: api.InstancePartPart(p.Part), State: api.InstancePartStateNotMeasured, Since: wire.UTC(p.Since)}
	switch {
	case p.OK:
		shown.State = api.InstancePartStateOk
	case p.Failed:
		shown.State = api.InstancePartStateFailed
	}
	shown.Database = wire.Optional(p.Database)
	shown.Code, shown.Sentence = wire.Optional(p.Reason.Code), wire.Optional(p.Reason.Sentence)
	return shown
}

// lastErrors are the parts that fail now.
func lastErrors(parts []status.PartState, failure *assessment.Failure) []api.InstanceError {
	out := []api.InstanceError{}
	for _, p := range parts {
		if p.Failed {
			out = append(out, api.InstanceError{
				Part: api.InstanceErrorPart(p.Part), Database: wire.Optional(p.Database), At: p.TriedAt.UTC(), Since: p.Since.UTC(),
				Code: p.Reason.Code, Sentence: p.Reason.Sentence,
			})
		}
	}
	if failure != nil {
		out = append(out, api.InstanceError{
			Part: api.InstanceErrorPartAssessment, At: failure.At.UTC(), Since: failure.Since.UTC(), Code: failure.Class, Sentence: failure.Sentence,
		})
	}
	return out
}

// assessed is how the assessment stands: when the last one succeeded, or why the last one
// failed.
func assessed(state assessment.TargetState, failure *assessment.Failure) api.InstancePart {
	shown := api.InstancePart{Part: api.InstancePartPartAssessment, State: api.InstancePartStateNotMeasured}
	switch {
	case failure != nil:
		shown.State, shown.Since = api.InstancePartStateFailed, wire.UTC(&failure.Since)
		shown.Code, shown.Sentence = &failure.Class, &failure.Sentence
	case state.LastAssessedAt != nil:
		shown.State, shown.Since = api.InstancePartStateOk, wire.UTC(state.LastAssessedAt)
	}
	return shown
}
