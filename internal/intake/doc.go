// Package intake accepts facts from outside. Each kind of message has a door, which decides what
// the message means and whether its sender may send it.
//
// # How it works
//
// A door is Take…(ctx, Caller, message) (Receipt, error). The doors of package feed accept the
// native feed, whose form was already checked against openapi.yaml. The doors of package agents
// accept the bytes that standard agents send. The caller of a door has read the message, and
// answers with the door's Receipt or error. Package httpapi does that, and counts.
//
// A message only moves downward:
//
//	door        feed, agents            one message: what it means, whether it may be said
//	  format    remotewrite, otlp,      bytes to values, with the reason of each that is none;
//	            alertmanager            hostmetrics has what node_exporter's and the
//	                                    collector's names mean, receivers what those of its receivers
//	                                    of databases do, protowalk steps over protobuf
//	  place     places                  which instances and databases the values name
//	  limit     domain/fleet.Limit      whether the token may speak of them
//	  store     push, commands          samples to the store and the watch, alerts to the log
//
// Muster's own observations need no door: collect assesses servers, measure measures them, and
// ownhost measures this machine. Samples from all of them end in package push.
//
// # The rule for limited tokens
//
// Limit is the one place that says which instances a token may write about. A feed that goes
// beyond it is refused as a whole, and every such item is named. From an agent's message, which
// would only come again, the item is dropped and counted as forbidden. If the answer depends on
// state under a lock (who owns the key of an instance), commands ask the same Limit. The keys of
// alerts are separate for each instance, so they need no such check.
//
// # What may go wrong
//
//   - A body is no message: *UnreadableError, and nothing of it is used.
//   - A part of an agent's message cannot be used: it is counted by Reason, and the rest is
//     used. A feed's call is all or nothing: *usecase.RuleError names the faults.
//   - The database fails after a part of an agent's message was written: the error comes with
//     the Receipt of that part, which is counted. If the message is sent again, that part counts
//     once.
//   - The fleet's read model lags behind a registration: a feed gets *LaggingError and sends
//     again. An agent's sample or alert belongs to the organization until the agent's next
//     message finds the instance.
package intake
