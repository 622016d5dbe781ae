package maintenance

import "time"

// Event is a fact about a window. Its wire name is its Name.
type Event interface{ name() string }

// Created says that there is a window. Its name is beside the log, because it is free text.
type Created struct{ Terms }

// Changed says by which terms it goes on. Of the name it says only that it is another.
type Changed struct {
	NameChanged bool `json:"nameChanged,omitempty"`
	Terms
}

// Ended says that somebody ended the time that was running. A window that recurs goes on with its
// next time after NotBefore.
type Ended struct {
	NotBefore time.Time `json:"notBefore"` // when the time would have ended
}

// Removed says that the window is no more.
type Removed struct{}

func (Created) name() string { return "maintenance.created" }
func (Changed) name() string { return "maintenance.changed" }
func (Ended) name() string   { return "maintenance.ended" }
func (Removed) name() string { return "maintenance.removed" }

// Events returns an empty value of every event of a window. All are at schema version 1. A name
// that was ever written stays.
func Events() []Event { return []Event{Created{}, Changed{}, Ended{}, Removed{}} }

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}
