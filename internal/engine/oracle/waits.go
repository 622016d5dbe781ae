package oracle

import "muster/internal/measurements/waitclass"

// waitClasses are the wait_class of V$SESSION (§4.6). Idle is in none of them: Oracle
// counts sessions there that wait for their client's next message.
var waitClasses = []waitclass.Class{
	{Pattern: "ON CPU", Category: waitclass.OnCPU}, // the session_state of active session history, where it has no wait_class
	{Pattern: "Concurrency", Category: waitclass.Locks},
	{Pattern: "Application", Category: waitclass.Locks},
	{Pattern: "Configuration", Category: waitclass.LightweightLocks},
	{Pattern: "User I/O", Category: waitclass.IO},
	{Pattern: "System I/O", Category: waitclass.IO},
	{Pattern: "Network", Category: waitclass.ClientNetwork},
}
