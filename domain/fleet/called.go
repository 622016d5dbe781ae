package fleet

import "github.com/google/uuid"

// CalledInstance is an instance of the read model by all that it is called.
type CalledInstance struct {
	ID                     uuid.UUID
	ExternalID, Name, Host string
}

// CalledDatabase is the same of a database.
type CalledDatabase struct {
	ID, InstanceID   uuid.UUID
	ExternalID, Name string
}
