package eventstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
)

// Registry knows the event types of a program by their wire names: how today's
// Go value of each becomes bytes and back, and how bytes of an earlier schema
// version become those of the next. Fill it where the program is wired and
// check Err once; after that it only reads and may be shared.
type Registry struct {
	types map[string]registered
	names map[reflect.Type]string
	err   error
}

type registered struct {
	version   int
	prototype reflect.Type
	upcasters map[int]Upcaster // by the version they start from
}

// Upcaster turns the data of one schema version into that of the next. It is a
// pure function: no clock, no database, the same bytes for the same bytes.
type Upcaster func(data []byte) ([]byte, error)

// NewRegistry returns a registry that knows nothing.
func NewRegistry() *Registry {
	return &Registry{types: make(map[string]registered), names: make(map[reflect.Type]string)}
}

// RegistrationError reports a registry that was filled wrongly: Name twice, one
// Go type under two names, or a version without its upcaster.
type RegistrationError struct{ Name, Reason string }

func (e *RegistrationError) Error() string { return "event type " + e.Name + ": " + e.Reason }

// Register says that values of prototype's type are written as name at this
// schema version, which Decode also returns them from.
func (r *Registry) Register(name string, version int, prototype any) {
	goType := reflect.TypeOf(prototype)
	known, twice := r.types[name]
	_, renamed := r.names[goType]
	switch {
	case goType == nil || name == "" || version < 1:
		r.fail(name, "needs a name, a version from 1 and a Go type")
	case twice && known.prototype != nil:
		r.fail(name, "registered twice")
	case renamed:
		r.fail(name, fmt.Sprintf("%s is already %s", goType, r.names[goType]))
	default:
		r.types[name] = registered{version: version, prototype: goType, upcasters: known.upcasters}
		r.names[goType] = name
	}
}

// Upcast says how the data of name at fromVersion becomes that of the next
// version. Every version before the registered one needs it.
func (r *Registry) Upcast(name string, fromVersion int, upcaster Upcaster) {
	t := r.types[name]
	if t.upcasters == nil {
		t.upcasters = make(map[int]Upcaster)
	}
	if _, twice := t.upcasters[fromVersion]; twice {
		r.fail(name, fmt.Sprintf("two upcasters from version %d", fromVersion))
		return
	}
	t.upcasters[fromVersion] = upcaster
	r.types[name] = t
}

func (r *Registry) fail(name, reason string) {
	if r.err == nil {
		r.err = &RegistrationError{Name: name, Reason: reason}
	}
}

// Err is the first fault of the registrations, a *RegistrationError, or nil.
func (r *Registry) Err() error {
	if r.err != nil {
		return r.err
	}
	for _, name := range r.Names() {
		t := r.types[name]
		if t.prototype == nil {
			return &RegistrationError{Name: name, Reason: "has upcasters, but is not registered"}
		}
		for v := 1; v < t.version; v++ {
			if t.upcasters[v] == nil {
				return &RegistrationError{Name: name, Reason: fmt.Sprintf("no upcaster from version %d", v)}
			}
		}
		if len(t.upcasters) > t.version-1 {
			return &RegistrationError{Name: name, Reason: fmt.Sprintf("an upcaster leads beyond version %d", t.version)}
		}
	}
	return nil
}

// Names lists the registered wire names, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.types)) }

// UnknownEventError reports an event whose type or schema version this program
// does not know: it was written by a newer one. Known is 0 for an unknown type.
type UnknownEventError struct {
	Type          string
	SchemaVersion int
	Known         int
}

func (e *UnknownEventError) Error() string {
	if e.Known == 0 {
		return fmt.Sprintf("unknown event type %q", e.Type)
	}
	return fmt.Sprintf("event type %q has schema version %d, and this program knows up to %d", e.Type, e.SchemaVersion, e.Known)
}

// UnregisteredError reports a Go value that Encode has no wire name for.
type UnregisteredError struct{ GoType string }

func (e *UnregisteredError) Error() string { return e.GoType + " is not a registered event type" }

// Encode turns an event of the domain into one to append, at today's schema
// version. OccurredAt is left to the caller.
func (r *Registry) Encode(event any) (NewEvent, error) {
	name, ok := r.names[reflect.TypeOf(event)]
	if !ok {
		return NewEvent{}, &UnregisteredError{GoType: fmt.Sprintf("%T", event)}
	}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // an auditor reads these bytes
	if err := encoder.Encode(event); err != nil {
		return NewEvent{}, fmt.Errorf("encode %s: %w", name, err)
	}
	return NewEvent{Type: name, SchemaVersion: r.types[name].version, Data: bytes.TrimSuffix(data.Bytes(), []byte("\n"))}, nil
}

// Decode turns a recorded event into a value of the registered Go type, after
// the upcasters it needs. An event of a newer program is an *UnknownEventError.
func (r *Registry) Decode(e Event) (any, error) {
	t, ok := r.types[e.Type]
	if !ok || t.prototype == nil {
		return nil, &UnknownEventError{Type: e.Type, SchemaVersion: e.SchemaVersion}
	}
	e, err := r.Upgrade(e)
	if err != nil {
		return nil, err
	}
	if e.SchemaVersion != t.version {
		return nil, &UnknownEventError{Type: e.Type, SchemaVersion: e.SchemaVersion, Known: t.version}
	}
	value := reflect.New(t.prototype)
	if err := json.Unmarshal(e.Data, value.Interface()); err != nil {
		return nil, fmt.Errorf("decode %s at %s:%d: %w", e.Type, e.Log, e.Position, err)
	}
	return value.Elem().Interface(), nil
}

// Upgrade raises an event to today's schema version. What the registry does not
// know, an unknown type or a newer version, it returns as it is.
func (r *Registry) Upgrade(e Event) (Event, error) {
	t := r.types[e.Type]
	for e.SchemaVersion < t.version {
		upcast, ok := t.upcasters[e.SchemaVersion]
		if !ok {
			return Event{}, &UnknownEventError{Type: e.Type, SchemaVersion: e.SchemaVersion, Known: t.version}
		}
		data, err := upcast(e.Data)
		if err != nil {
			return Event{}, fmt.Errorf("upcast %s from version %d at %s:%d: %w", e.Type, e.SchemaVersion, e.Log, e.Position, err)
		}
		e.Data, e.SchemaVersion = data, e.SchemaVersion+1
	}
	return e, nil
}

// Fold decodes events one after the other and gives them to apply, then returns
// the version of the last one, which is what the next Append expects. An event
// whose Go type is not an E is an *UnknownEventError.
func Fold[E any](r *Registry, events iter.Seq2[Event, error], apply func(E, Event)) (int64, error) {
	var version int64
	for recorded, err := range events {
		if err != nil {
			return 0, err
		}
		value, err := r.Decode(recorded)
		if err != nil {
			return 0, err
		}
		event, ok := value.(E)
		if !ok {
			return 0, &UnknownEventError{Type: recorded.Type, SchemaVersion: recorded.SchemaVersion}
		}
		apply(event, recorded)
		version = recorded.Version
	}
	return version, nil
}
