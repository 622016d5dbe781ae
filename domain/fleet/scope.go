package fleet

import "github.com/google/uuid"

// Scope is the instance filter of a read. The zero value is the whole
// organization; a filter that nothing matches is not.
type Scope struct {
	Filtered  bool
	Instances []uuid.UUID // of what is filtered; nothing else is in scope
}
