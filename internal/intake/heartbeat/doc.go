// Package heartbeat keeps the state of agents: each one's last report of itself and of the
// servers that it measures.
//
// A report replaces the one before of the same sender and token: the same sender id by another
// token is another agent. An instance is shown with the agent that reported it last. No report
// is history: it is for whoever looks at an instance now.
//
// What may go wrong:
//
//   - An agent goes: its last report stays for thirty days, with the time it came in.
//     Whether its servers are silent the watch says, from their samples.
//   - Two agents measure one instance: the page shows who reported last, and the one whose
//     statements are refused says so of itself.
//   - Two reports of one agent overtake each other: the one that is kept last stays for a
//     minute.
package heartbeat
