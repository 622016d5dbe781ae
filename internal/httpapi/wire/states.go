package wire

import (
	"github.com/google/uuid"

	"muster/internal/httpapi/api"
	"muster/internal/watch/status"
)

// StatesOf returns the states of servers, and how many are in each. active says which servers
// there are and whether they are switched on; of has what was observed of them.
func StatesOf(active map[uuid.UUID]bool, of map[uuid.UUID]status.Status) (states map[uuid.UUID]status.State, counts api.InstanceStates) {
	states = make(map[uuid.UUID]status.State, len(active))
	for id, on := range active {
		states[id] = of[id].State
		if !on {
			states[id] = status.Inactive
		}
		countState(&counts, states[id])
	}
	return states, counts
}

func countState(counts *api.InstanceStates, state status.State) {
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
