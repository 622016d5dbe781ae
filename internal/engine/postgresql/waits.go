package postgresql

import "muster/internal/measurements/waitclass"

// waitClasses are the wait_event_type of pg_stat_activity (§4.6). Activity, Timeout,
// Extension and InjectionPoint are in none of them.
var waitClasses = []waitclass.Class{
	{Pattern: "Lock", Category: waitclass.Locks},
	{Pattern: "Buffer", Category: waitclass.Locks}, // BufferPin until 18; since 19 all waits for a buffer are of the type Buffer
	{Pattern: "LWLock", Category: waitclass.LightweightLocks},
	{Pattern: "IO", Category: waitclass.IO},
	{Pattern: "Client", Category: waitclass.ClientNetwork},
	{Pattern: "IPC", Category: waitclass.ClientNetwork},
}
