package exception

// Types returns the wire name of every event of an exception with an empty
// value of its type. All are at schema version 1. A name that was ever written
// stays.
func Types() map[string]Event {
	types := make(map[string]Event)
	for _, e := range []Event{Requested{}, Granted{}, Revoked{}} {
		types[Name(e)] = e
	}
	return types
}

// Name returns the wire name of an event.
func Name(e Event) string {
	switch e.(type) {
	case Requested:
		return "exception.requested"
	case Granted:
		return "exception.granted"
	case Revoked:
		return "exception.revoked"
	}
	return ""
}
