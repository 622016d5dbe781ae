package demo

import (
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
)

// query is one of the statements that every database runs.
type query struct {
	key   string
	share float64 // of all calls
	ms    float64 // what one takes
}

// queries go from the ones that nobody notices to those that people wait for.
var queries = []query{
	{"lookup by id", 0.58, 0.35},
	{"list a page", 0.19, 3.2},
	{"insert", 0.12, 1.1},
	{"update", 0.08, 2.6},
	{"search by name", 0.02, 31},
	{"sum of a month", 0.006, 140},
	{"join for a report", 0.001, 620},
	{"export", 0.00006, 2_400},
}

// released is a statement that came with a new release of an application, counted from
// the minute in which the organization was made, as is when its index was there.
var released = struct {
	server, database string
	query
	since, mended time.Duration
	slower        float64 // until then
}{
	"demo-pg-orders-01", "orders", query{"bought together", 0.12, 1.5},
	-5*time.Hour - 50*time.Minute, -2*time.Hour - 55*time.Minute, 36,
}

// said is what statements read, by their keys, and what their databases are about.
var said = reading[struct {
	Tables map[string]string
	Texts  map[fleet.Engine]map[string]string
}]("statements.yaml", statementsYAML)

// textOf is the text of a statement; empty where its engine's are not kept.
func textOf(engine fleet.Engine, database, key string) string {
	return strings.ReplaceAll(said().Texts[engine][key], "{table}", said().Tables[database])
}

// busyFrom is the first version of PostgreSQL that counts how long its sessions execute.
const busyFrom = 14

// tellsBusy says whether the server counts how long its sessions execute.
func (s server) tellsBusy() bool {
	major, _, _ := strings.Cut(s.Version, ".")
	version, err := strconv.Atoi(major)
	return s.Engine == fleet.PostgreSQL && err == nil && version >= busyFrom
}

// idleWait is what a session waits for that nobody uses, by engines that say so.
var idleWait = map[fleet.Engine]string{fleet.PostgreSQL: "Client", fleet.Oracle: "Idle"}

// lockWait is what a session waits for that waits for another's lock.
var lockWait = map[fleet.Engine]string{fleet.PostgreSQL: "Lock", fleet.SQLServer: "LCK_M_X", fleet.Oracle: "Application"}

// busyWaits are what sessions wait for that have something to do; what is there
// more than once is so much more frequent.
var busyWaits = map[fleet.Engine][]string{
	fleet.PostgreSQL: {"IO", "IO", "IO", "IO", "LWLock", "LWLock", "Lock", "IPC", "Timeout"},
	fleet.SQLServer: {
		"PAGEIOLATCH_SH", "PAGEIOLATCH_SH", "WRITELOG", "WRITELOG", "CXPACKET", "CXPACKET", "SOS_SCHEDULER_YIELD",
		"ASYNC_NETWORK_IO", "LCK_M_S", "LATCH_EX",
	},
	fleet.Oracle: {"User I/O", "User I/O", "User I/O", "System I/O", "Commit", "Commit", "Concurrency", "Network", "Configuration"},
}
