package wire

import (
	"muster/internal/httpapi/api"
	"muster/internal/status"
)

// CountState counts a server in a state.
func CountState(counts *api.InstanceStates, state status.State) {
	switch state {
	case status.Up:
		counts.Up++
	case status.Down:
		counts.Down++
	case status.Silent:
		counts.Silent++
	case status.Unknown:
		counts.Unknown++
	case status.Inactive:
		counts.Inactive++
	}
}

// StatusReason shows why a server is not up; nil where nothing is said.
func StatusReason(r *status.Reason) *api.StatusReason {
	if r == nil {
		return nil
	}
	shown := &api.StatusReason{Code: r.Code, Sentence: r.Sentence}
	seen, said := r.Said()
	if shown.Seen = seen; said != nil {
		shown.Said = &api.ServerSaid{Code: said.Code, Words: said.Words, Last: said.Last}
	}
	return shown
}
