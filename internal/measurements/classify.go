package measurements

import (
	"strings"

	"muster/domain/fleet"
)

// Classify says which category a wait belongs to, by the engine's own name of it: the
// wait_event_type of PostgreSQL, the wait_type of SQL Server, the wait_class of
// Oracle. ok is false where the session does not wait at all: it is on CPU.
func Classify(engine fleet.Engine, name string) (category int, ok bool) {
	name = strings.TrimSpace(name)
	if name == "" { // NULL in every engine
		return 0, false
	}
	for _, class := range waitClasses[engine] {
		if class.matches(name) {
			return class.category, class.category != onCPU
		}
	}
	return Other, true
}

// waitClass is a row of the table of §4.6. The pattern is the beginning of a name,
// with * in front of it any part of one; upper and lower case are the same.
type waitClass struct {
	pattern  string
	category int
}

// onCPU is the category of what is named like a wait and is none.
const onCPU = -1

func (c waitClass) matches(name string) bool {
	if part, anywhere := strings.CutPrefix(c.pattern, "*"); anywhere {
		return strings.Contains(strings.ToUpper(name), strings.ToUpper(part))
	}
	return len(name) >= len(c.pattern) && strings.EqualFold(name[:len(c.pattern)], c.pattern)
}

// waitClasses is the table of §4.6; the first row that matches decides (reading 22).
// What no row matches is Other: PostgreSQL's Activity, Timeout, Extension and
// InjectionPoint, SQL Server's CXPACKET and SOS_SCHEDULER_YIELD, and Oracle's Idle,
// which is where it counts sessions that wait for their client's next message.
var waitClasses = map[fleet.Engine][]waitClass{
	fleet.PostgreSQL: {
		{"Lock", Locks},
		{"Buffer", Locks}, // BufferPin until 18; since 19 all waits for a buffer are of the type Buffer
		{"LWLock", LightweightLocks},
		{"IO", IO},
		{"Client", ClientNetwork},
		{"IPC", ClientNetwork},
	},
	fleet.SQLServer: {
		{"LCK_", Locks},
		{"PAGEIOLATCH_", IO},
		{"PAGELATCH_", IO},
		{"LATCH_", LightweightLocks},
		{"WRITELOG", IO},
		{"IO_", IO},
		{"HADR_", IO},
		{"LOGMGR", IO},
		{"ASYNC_NETWORK_IO", ClientNetwork},
		{"*NETWORK", ClientNetwork},
		{"SNI_", ClientNetwork},
	},
	fleet.Oracle: {
		{"ON CPU", onCPU}, // the session_state of active session history, where it has no wait_class
		{"Concurrency", Locks},
		{"Application", Locks},
		{"Configuration", LightweightLocks},
		{"User I/O", IO},
		{"System I/O", IO},
		{"Network", ClientNetwork},
	},
}
