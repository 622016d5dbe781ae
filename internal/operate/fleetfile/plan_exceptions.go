package fleetfile

import (
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"muster/domain/exception"
	"muster/projections/exceptions"
)

// subject is what an exception is about, by ids; what it leaves open is uuid.Nil.
type subject struct {
	check              string
	instance, database uuid.UUID
	object             string
}

func subjectOf(x exceptions.Exception) subject {
	return subject{check: x.CheckID, instance: orNil(x.InstanceID), database: orNil(x.DatabaseID), object: x.ObjectRef}
}

func orNil(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}

// exceptions compares by subject: what an exception is about is what it is. Its reason
// and its time cannot be changed once somebody has agreed to them, so another one takes
// its place, and it is revoked.
func (c *comparison) exceptions() {
	meant := map[subject]bool{}
	for i := range c.file.Exceptions {
		x := &c.file.Exceptions[i]
		if x.lapsed(c.state.Now) {
			c.plan.Stays = append(c.plan.Stays, Change{Action: Stay, Kind: KindException, Called: x.title(), Why: "its time was over at " + at(x.Until) + "; take it out of the file"})
			continue
		}
		about, new, ok := c.place(x)
		if !ok {
			continue
		}
		if !new {
			meant[about] = true
		}
		c.exception(x, about, new)
	}
	if !c.file.Lists.Exceptions {
		return
	}
	for _, x := range c.state.Exceptions {
		if x.Status != exception.StatusGranted || meant[subjectOf(x)] {
			continue
		}
		change := Change{Kind: KindException, Called: c.titleOf(x), About: "until " + at(x.Until), Action: Stay, Why: "is not in the file and stays"}
		if c.prune {
			change.Action, change.Why = Remove, ""
			change.task.exception = &exceptionTask{ends: []uuid.UUID{x.ID}}
			c.plan.Changes = append(c.plan.Changes, change)
			continue
		}
		c.plan.Stays = append(c.plan.Stays, change)
	}
}

// place finds what an exception is about. new says that its instance is none yet, so
// that there can be no exception about it either.
func (c *comparison) place(x *Exception) (about subject, new, ok bool) {
	about = subject{check: x.CheckID, object: x.ObjectRef}
	if x.Instance == "" {
		return about, false, true
	}
	known, there := c.known[x.Instance]
	if !there && c.declared[x.Instance] == nil {
		c.faults = append(c.faults, x.fault("instance", "is the externalId of no instance, neither in the file nor in the organization"))
		return about, false, false
	}
	if c.prune && c.file.Lists.Instances && c.declared[x.Instance] == nil && !known.Sent {
		c.faults = append(c.faults, x.fault("instance", "is an instance that --prune removes"))
		return about, false, false
	}
	if !there {
		if x.Database != "" {
			c.waits(x)
			return about, true, false
		}
		return about, true, true
	}
	about.instance = known.ID
	if x.Database == "" {
		return about, false, true
	}
	for _, d := range known.Databases {
		if d.ExternalID == x.Database {
			about.database = d.ID
		}
	}
	for _, d := range known.Databases {
		if about.database == uuid.Nil && d.Name == x.Database {
			about.database = d.ID
		}
	}
	switch {
	case about.database != uuid.Nil:
		return about, false, true
	case known.DatabaseCount == 0: // nobody has looked yet
		c.waits(x)
	default:
		c.faults = append(c.faults, x.fault("database", "is no database of that instance"))
	}
	return about, false, false
}

// waits is for a database that the first assessment will find.
func (c *comparison) waits(x *Exception) {
	c.plan.Stays = append(c.plan.Stays, Change{Action: Stay, Kind: KindException, Called: x.title(), Why: "waits: the databases of the instance are not known before it is assessed; apply the file again then"})
}

func (c *comparison) exception(x *Exception, about subject, new bool) {
	t := &exceptionTask{declared: x, on: x.Instance}
	if about.database != uuid.Nil {
		t.database = &about.database
	}
	var replaced *exceptions.Exception
	for i := range c.state.Exceptions {
		there := &c.state.Exceptions[i]
		if new || subjectOf(*there) != about {
			continue
		}
		same := there.Reason == x.Reason && there.Until.Equal(x.Until.Truncate(time.Microsecond))
		switch {
		case same && there.Status == exception.StatusGranted && !t.granted:
			t.granted = true
		case same && there.Status == exception.StatusRequested:
			t.asked = there.ID
		case there.Status == exception.StatusGranted:
			t.ends = append(t.ends, there.ID)
			replaced = there
		}
	}
	change := Change{Action: Add, Kind: KindException, Called: x.title(), About: "until " + at(x.Until), task: task{exception: t}}
	switch {
	case t.granted && len(t.ends) == 0:
		return
	case t.granted: // an earlier run was ended between the two
		change.Action, change.About = Alter, ""
		change.Differences = []Difference{{Field: "until", Before: at(replaced.Until), After: at(x.Until)}}
	case replaced != nil:
		change.Action, change.About = Alter, ""
		if !replaced.Until.Equal(x.Until) {
			change.Differences = append(change.Differences, Difference{Field: "until", Before: at(replaced.Until), After: at(x.Until)})
		}
		if replaced.Reason != x.Reason {
			change.Differences = append(change.Differences, Difference{Field: "reason", Before: strconv.Quote(short(replaced.Reason)), After: strconv.Quote(short(x.Reason))})
		}
	}
	c.plan.Changes = append(c.plan.Changes, change)
}

// title is an exception as it is told of.
func (x *Exception) title() string {
	return exceptionTitle(x.CheckID, x.Instance, x.Database, x.ObjectRef)
}

func exceptionTitle(check, instance, database, object string) string {
	title := check
	if instance != "" {
		title += " on " + instance
	}
	if database != "" {
		title += "/" + database
	}
	if object != "" {
		title += " of " + object
	}
	return title
}

// titleOf is the title of an exception that is there.
func (c *comparison) titleOf(x exceptions.Exception) string {
	instance, database := "", ""
	if x.InstanceID != nil {
		instance = "an instance that was removed"
	}
	for _, known := range c.known {
		if known.ID == orNil(x.InstanceID) {
			instance = known.ExternalID
		}
	}
	if x.DatabaseID != nil {
		database = "a database that was removed"
		if name, there := c.state.DatabaseNames[*x.DatabaseID]; there {
			database = name
		}
	}
	return exceptionTitle(x.CheckID, instance, database, x.ObjectRef)
}

func at(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// short is as much of a reason as a line takes.
func short(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return fmt.Sprintf("%s…", string(runes[:most]))
	}
	return text
}
