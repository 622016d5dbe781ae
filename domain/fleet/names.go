package fleet

// Types returns the wire name of every event of the fleet with an empty value
// of its type. All are at schema version 1. A name that was ever written stays.
func Types() map[string]Event {
	types := make(map[string]Event)
	for _, e := range []Event{
		InstanceRegistered{}, InstanceChanged{}, InstanceActivated{}, InstanceDeactivated{}, InstanceRemoved{},
		DatabaseRegistered{}, DatabaseChanged{}, DatabaseRemoved{},
	} {
		types[Name(e)] = e
	}
	return types
}

// Name returns the wire name of an event.
func Name(e Event) string {
	switch e.(type) {
	case InstanceRegistered:
		return "instance.registered"
	case InstanceChanged:
		return "instance.changed"
	case InstanceActivated:
		return "instance.activated"
	case InstanceDeactivated:
		return "instance.deactivated"
	case InstanceRemoved:
		return "instance.removed"
	case DatabaseRegistered:
		return "database.registered"
	case DatabaseChanged:
		return "database.changed"
	case DatabaseRemoved:
		return "database.removed"
	}
	return ""
}

// Engines returns every engine known.
func Engines() []Engine { return []Engine{PostgreSQL, SQLServer, Oracle, MongoDB, MySQL} }
