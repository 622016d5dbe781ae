package usecase

import (
	"fmt"
	"time"

	"muster/domain/schedule"
	"muster/internal/process/zones"
)

// UnknownZoneError says that no time zone has that name.
type UnknownZoneError struct{ Name string }

func (e *UnknownZoneError) Error() string { return fmt.Sprintf("no time zone is called %q", e.Name) }

// Zone is a time zone of the IANA database. Errors: *UnknownZoneError.
func Zone(name string) (*time.Location, error) {
	if !schedule.ZoneName(name) {
		return nil, &UnknownZoneError{Name: name}
	}
	zone, err := zones.Load(name)
	if err != nil {
		return nil, &UnknownZoneError{Name: name}
	}
	return zone, nil
}

// UnknownZone says what is wrong with a name of a time zone.
const UnknownZone = "is no time zone of the IANA database"
