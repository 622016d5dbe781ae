package fleet

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// InstanceDetails are what a person or a feed says about an instance.
type InstanceDetails struct {
	Name      string
	Engine    Engine
	Version   string
	Host      string
	Active    bool
	CreatedAt time.Time
}

// Differs are the fields in which details differ from others, as messages call them.
func (d InstanceDetails) Differs(other InstanceDetails) (fields []string) {
	for _, f := range []struct {
		field   string
		differs bool
	}{
		{"name", d.Name != other.Name}, {"engine", d.Engine != other.Engine}, {"version", d.Version != other.Version},
		{"host", d.Host != other.Host}, {"active", d.Active != other.Active}, {"createdAt", !d.CreatedAt.Equal(other.CreatedAt)},
	} {
		if f.differs {
			fields = append(fields, f.field)
		}
	}
	return fields
}

// Field is a field by the name that Differs gives it.
func (d InstanceDetails) Field(name string) any {
	return map[string]any{
		"name": d.Name, "engine": d.Engine, "version": d.Version, "host": d.Host, "active": d.Active, "createdAt": d.CreatedAt,
	}[name]
}

// Instance is one database server, folded from its events. The zero value has not been
// registered yet.
type Instance struct {
	registered, removed bool
	externalID          string
	details             InstanceDetails
	declined            []string // grants
	tags                Tags
}

// RemovedError reports a decision about something that is gone.
type RemovedError struct{ What string }

func (e *RemovedError) Error() string { return "the " + e.What + " was removed" }

// Known reports whether the instance is registered and not removed.
func (i *Instance) Known() bool { return i.registered && !i.removed }

// ExternalID is the sender's own key of the instance.
func (i *Instance) ExternalID() string { return i.externalID }

// Details are what is known of the instance.
func (i *Instance) Details() InstanceDetails { return i.details }

// Apply folds one recorded event into the instance.
func (i *Instance) Apply(event Event) {
	switch e := event.(type) {
	case InstanceRegistered:
		i.registered, i.externalID = true, e.ExternalID
		i.details = InstanceDetails{Name: e.Name, Engine: e.Engine, Version: e.Version, Host: e.Host, Active: e.Active, CreatedAt: e.CreatedAt}
	case InstanceChanged:
		i.details.Name, i.details.Engine, i.details.Version = e.Name, e.Engine, e.Version
		i.details.Host, i.details.CreatedAt = e.Host, e.CreatedAt
	case InstanceActivated:
		i.details.Active = true
	case InstanceDeactivated:
		i.details.Active = false
	case InstanceRemoved:
		i.removed = true
	case InstanceGrantsDeclined:
		i.declined = e.Objects
	case InstanceTagged:
		i.tags = i.tags.Apply(e)
	}
}

// Decline says which grants the organization will not give from now on, instead of those
// that it would not before.
func (i *Instance) Decline(objects []string) ([]Event, error) {
	if !i.Known() {
		return nil, &RemovedError{What: "instance"}
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(objects)))
	if slices.Equal(sorted, i.declined) {
		return nil, nil
	}
	return []Event{InstanceGrantsDeclined{Objects: append([]string{}, sorted...)}}, nil
}

// Register registers the instance, or changes it if it is registered already.
func (i *Instance) Register(externalID string, d InstanceDetails) ([]Event, error) {
	if i.registered {
		return i.Change(d)
	}
	return []Event{InstanceRegistered{
		ExternalID: externalID, Name: d.Name, Engine: d.Engine, Version: d.Version, Host: d.Host,
		Active: d.Active, CreatedAt: d.CreatedAt,
	}}, nil
}

// EngineFixedError reports a decision that would change an instance's engine.
type EngineFixedError struct{ Is Engine }

func (e *EngineFixedError) Error() string {
	return "the engine of the instance is " + string(e.Is) + " and never changes"
}

// Change brings the instance to d. Errors: *RemovedError, *EngineFixedError.
func (i *Instance) Change(d InstanceDetails) ([]Event, error) {
	if !i.Known() {
		return nil, &RemovedError{What: "instance"}
	}
	var events []Event
	was := i.details
	if d.Engine != was.Engine {
		return nil, &EngineFixedError{Is: was.Engine}
	}
	if d.Name != was.Name || d.Version != was.Version || d.Host != was.Host || !d.CreatedAt.Equal(was.CreatedAt) {
		changed := InstanceChanged{Name: d.Name, Engine: d.Engine, Version: d.Version, Host: d.Host, CreatedAt: d.CreatedAt}
		if d.Name != was.Name {
			changed.FormerName = was.Name
		}
		if d.Host != was.Host {
			changed.FormerHost = was.Host
		}
		events = append(events, changed)
	}
	switch {
	case d.Active && !was.Active:
		events = append(events, InstanceActivated{})
	case !d.Active && was.Active:
		events = append(events, InstanceDeactivated{})
	}
	return events, nil
}

// Remove takes the instance out of every list and count.
func (i *Instance) Remove() []Event {
	if !i.Known() {
		return nil
	}
	return []Event{InstanceRemoved{}}
}

// Database is one database of an instance, folded from its events. The zero value has not been
// registered yet.
type Database struct {
	registered, removed bool
	instance            uuid.UUID
	name                string
	createdAt           time.Time
}

// Known reports whether the database is registered and not removed.
func (d *Database) Known() bool { return d.registered && !d.removed }

// CreatedAt is when the database was registered for monitoring.
func (d *Database) CreatedAt() time.Time { return d.createdAt }

// Apply folds one recorded event into the database.
func (d *Database) Apply(event Event) {
	switch e := event.(type) {
	case DatabaseRegistered:
		d.registered, d.instance, d.name, d.createdAt = true, e.InstanceID, e.Name, e.CreatedAt
	case DatabaseChanged:
		d.name, d.createdAt = e.Name, e.CreatedAt
	case DatabaseRemoved:
		d.removed = true
	}
}

// Register registers the database on an instance, or changes it if it is registered already.
func (d *Database) Register(instance uuid.UUID, externalID, name string, createdAt time.Time) ([]Event, error) {
	switch {
	case !d.registered:
		return []Event{DatabaseRegistered{InstanceID: instance, ExternalID: externalID, Name: name, CreatedAt: createdAt}}, nil
	case d.removed:
		return nil, &RemovedError{What: "database"}
	case name == d.name && createdAt.Equal(d.createdAt):
		return nil, nil
	}
	return []Event{DatabaseChanged{Name: name, CreatedAt: createdAt}}, nil
}

// Remove takes the database out of every list and count.
func (d *Database) Remove() []Event {
	if !d.Known() {
		return nil
	}
	return []Event{DatabaseRemoved{InstanceID: d.instance}}
}

// CalledInstance is an instance of the read model by all that it is called.
type CalledInstance struct {
	ID                     uuid.UUID
	Engine                 Engine
	ExternalID, Name, Host string
}

// CalledDatabase is the same of a database.
type CalledDatabase struct {
	ID, InstanceID   uuid.UUID
	ExternalID, Name string
}

// Scope is the instance filter of a read. The zero value is the whole
// organization; a filter that nothing matches is not.
type Scope struct {
	Filtered  bool
	Instances []uuid.UUID // of what is filtered; nothing else is in scope
}
