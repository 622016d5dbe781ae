// Package heartbeat stores the state of agents: the last report of each agent about itself and
// about the servers that it measures.
//
// A report replaces the previous one of the same sender and token. The same sender id with
// another token is another agent. An instance is shown with the agent that reported it last.
// There is no history of reports: they describe the present.
//
// What may go wrong:
//
//   - An agent is gone: its last report stays for thirty days, with the time at which it came
//     in. The watch decides from samples whether its servers are silent.
//   - Two agents measure one instance: the page shows the agent that reported last. The agent
//     whose statements are refused says so in its own report.
//   - Two reports of one agent overtake each other: the one that is stored last stays for a
//     minute.
package heartbeat
