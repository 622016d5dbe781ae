package measurements

import (
	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/measurements/waitclass"
)

// Classify says which category a wait belongs to, by the engine's own name of it (package
// waits). ok is false where the session does not wait at all: it is on CPU. Waits of an
// engine that is not measured are Other.
func Classify(of fleet.Engine, name string) (category int, ok bool) {
	var classes []waitclass.Class
	if e, err := engine.Of(of); err == nil && e.Measured != nil {
		classes = e.Measured.Waits
	}
	return waitclass.Classify(classes, name)
}
