package demo

import "muster/domain/fleet"

// workload is what a server on paper has to do, and the machine that it does it on.
// One that is missing here is measured by nobody.
type workload struct {
	server  string
	rhythm  rhythm
	pool    float64    // sessions that the applications of one database keep open
	calls   float64    // statements a minute in one database when it is busiest
	cpu     [2]float64 // percent, when nothing is to be done and at the busiest
	memory  float64    // percent
	volumes []volume
}

// volume is a volume that fills until somebody cleans it up.
type volume struct {
	mount  string
	low    float64 // percent, when it has been cleaned up
	grows  float64 // percent a day
	every  int     // days from one clean-up to the next
	before int     // how many days before the organization was made was the last one
}

var workloads = []workload{
	{"demo-pg-orders-01", shopping, 42, 2600, [2]float64{11, 64}, 74, []volume{
		{"/", 31, 0.05, 120, 70}, {"/boot", 96, 0, 1, 0}, {"/var/lib/postgresql", 55, 0.42, 60, 41}}},
	{"demo-pg-orders-02", shopping, 16, 900, [2]float64{8, 38}, 69, []volume{
		{"/", 28, 0.05, 120, 90}, {"/var/lib/postgresql", 55, 0.42, 60, 41}}},
	{"demo-pg-billing-01", atWork, 24, 700, [2]float64{6, 47}, 66, []volume{
		{"/", 34, 0.04, 150, 20}, {"/data", 48, 0.31, 75, 33}}},
	{"demo-pg-identity-01", evenly, 20, 1500, [2]float64{9, 41}, 58, []volume{
		{"/", 22, 0.06, 100, 12}, {"/data", 26, 0.12, 200, 90}}},
	{"demo-pg-legacy-01", atWork, 14, 240, [2]float64{14, 71}, 81, []volume{
		{"/", 71, 0.1, 90, 30}, {"/boot", 98, 0, 1, 0}, {"/srv/pg", 64, 0.25, 70, 52}}},
	{"demo-mssql-erp-01", atWork, 36, 1300, [2]float64{10, 68}, 84, []volume{
		{"C:", 47, 0.03, 200, 60}, {"D:", 58, 0.5, 50, 15}, {"E:", 39, 0.2, 90, 44}}},
	{"demo-mssql-erp-02", atWork, 20, 500, [2]float64{7, 36}, 78, []volume{
		{"C:", 45, 0.03, 200, 60}, {"D:", 52, 0.3, 80, 22}, {"E:", 36, 0.2, 90, 44}}},
	{"demo-mssql-hr-01", atWork, 12, 260, [2]float64{5, 33}, 61, []volume{
		{"C:", 51, 0.02, 300, 100}, {"D:", 33, 0.15, 120, 80}, {"E:", 21, 0.1, 180, 30}}},
	{"demo-ora-core-01", evenly, 48, 1800, [2]float64{16, 59}, 87, []volume{
		{"/", 40, 0.03, 200, 10}, {"/u01", 62, 0.1, 150, 80}, {"/u02/oradata", 69, 0.2, 60, 24}}},
	{"demo-ora-dwh-01", nightly, 18, 320, [2]float64{12, 93}, 79, []volume{
		{"/", 24, 0.05, 150, 5}, {"/u02/oradata", 57, 1.1, 20, 5}}},
	{"demo-mongo-events-01", evenly, 30, 2100, [2]float64{13, 52}, 72, []volume{
		{"/", 30, 0.04, 150, 60}, {"/data/db", 44, 0.6, 60, 35}}},
	{"demo-mysql-web-01", shopping, 26, 1900, [2]float64{8, 57}, 63, []volume{
		{"/", 37, 0.3, 40, 3}, {"/snap/core22/1621", 100, 0, 1, 0}}},
}

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
