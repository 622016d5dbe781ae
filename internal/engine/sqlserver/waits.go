package sqlserver

import "muster/internal/measurements/waitclass"

// waitClasses are the wait_type of sys.dm_exec_requests (§4.6). CXPACKET and
// SOS_SCHEDULER_YIELD are in none of them.
var waitClasses = []waitclass.Class{
	{Pattern: "LCK_", Category: waitclass.Locks},
	{Pattern: "PAGEIOLATCH_", Category: waitclass.IO},
	{Pattern: "PAGELATCH_", Category: waitclass.IO},
	{Pattern: "LATCH_", Category: waitclass.LightweightLocks},
	{Pattern: "WRITELOG", Category: waitclass.IO},
	{Pattern: "IO_", Category: waitclass.IO},
	{Pattern: "HADR_", Category: waitclass.IO},
	{Pattern: "LOGMGR", Category: waitclass.IO},
	{Pattern: "ASYNC_NETWORK_IO", Category: waitclass.ClientNetwork},
	{Pattern: "*NETWORK", Category: waitclass.ClientNetwork},
	{Pattern: "SNI_", Category: waitclass.ClientNetwork},
}
