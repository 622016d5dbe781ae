package postgresql

import (
	"errors"

	"muster/internal/servers"
	"muster/internal/snapshot"
)

// reasonOf says in a code and a sentence why a query gave nothing. What the
// server said stays out of it: its text may quote data.
func reasonOf(err error) (code, sentence string) {
	refusal, refused := errors.AsType[*servers.Refusal](err)
	switch reason := servers.ReasonOf(err); {
	case reason == servers.Denied:
		return snapshot.ReasonPermissionDenied, "the server denied permission for it"
	case reason == servers.TimedOut && refused:
		return snapshot.ReasonTimeout, "the server did not finish it in time"
	case reason == servers.TimedOut:
		return snapshot.ReasonTimeout, "the server did not answer in time"
	case refused:
		return snapshot.ReasonQueryFailed, "the query failed with " + refusal.Code
	}
	return snapshot.ReasonQueryFailed, "the connection broke"
}
