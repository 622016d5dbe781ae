package alert

// Types returns the wire name of every event of an alert with an empty value of
// its type. All are at schema version 1. A name that was ever written stays.
func Types() map[string]Event {
	types := make(map[string]Event)
	for _, e := range []Event{
		Raised{}, Changed{}, TriggeredAgain{}, StillFiring{}, Acknowledged{}, Muted{}, Unmuted{}, Resolved{}, AutoResolved{},
	} {
		types[Name(e)] = e
	}
	return types
}

// Name returns the wire name of an event.
func Name(e Event) string {
	switch e.(type) {
	case Raised:
		return "alert.raised"
	case Changed:
		return "alert.changed"
	case TriggeredAgain:
		return "alert.triggered_again"
	case StillFiring:
		return "alert.still_firing"
	case Acknowledged:
		return "alert.acknowledged"
	case Muted:
		return "alert.muted"
	case Unmuted:
		return "alert.unmuted"
	case Resolved:
		return "alert.resolved"
	case AutoResolved:
		return "alert.auto_resolved"
	}
	return ""
}
