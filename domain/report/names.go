package report

// Types returns the wire name of every event of a report with an empty value of
// its type. All are at schema version 1. A name that was ever written stays.
func Types() map[string]Event {
	types := make(map[string]Event)
	for _, e := range []Event{
		Queued{}, Reused{}, BuildStarted{}, BuildResumed{}, StepCompleted{}, Ready{}, Failed{}, Expired{},
		EmailSent{}, EmailFailed{}, Downloaded{}, InputsErased{},
	} {
		types[Name(e)] = e
	}
	return types
}

// Name returns the wire name of an event.
func Name(e Event) string {
	switch e.(type) {
	case Queued:
		return "report.queued"
	case Reused:
		return "report.reused"
	case BuildStarted:
		return "report.build_started"
	case BuildResumed:
		return "report.build_resumed"
	case StepCompleted:
		return "report.step_completed"
	case Ready:
		return "report.ready"
	case Failed:
		return "report.failed"
	case Expired:
		return "report.expired"
	case EmailSent:
		return "report.email_sent"
	case EmailFailed:
		return "report.email_failed"
	case Downloaded:
		return "report.downloaded"
	case InputsErased:
		return "report.inputs_erased"
	}
	return ""
}
