package collect

import (
	"fmt"

	"github.com/google/uuid"
)

// NotCollectedError says that an instance has no connection registered, or is
// not one of the organization's.
type NotCollectedError struct{ Instance uuid.UUID }

func (e *NotCollectedError) Error() string {
	return fmt.Sprintf("instance %s has no connection registered", e.Instance)
}

// InactiveError says that an instance is counted but not assessed.
type InactiveError struct{ Instance uuid.UUID }

func (e *InactiveError) Error() string { return fmt.Sprintf("instance %s is inactive", e.Instance) }
