// Package intake takes facts in. Each kind of message has a door, which decides its meaning
// and whether its sender may send it.
//
// # How it works
//
// A door is Take…(ctx, Caller, message) (Receipt, error). Those of package feed take the
// native feed, whose form openapi.yaml has been held against; those of package agents
// take the bytes that standard agents send. Whoever calls a door has read the message,
// and answers with its Receipt or its error; package httpapi does, and counts.
//
// A message goes downhill only:
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
// What Muster finds out itself needs no door: collect assesses servers, measure measures
// them, ownhost measures this machine. Samples of all of them end in package push.
//
// # The rule for limited tokens
//
// Limit is the one place that says what a token may speak of. A feed that goes beyond it
// is refused as a whole, and every item is named; of an agent's message, which would only
// come again, the item is dropped and counted as forbidden. What depends on the state
// under a lock (whose the key of an instance is) commands ask the same Limit. The keys of
// alerts are apart by instance, so that nobody has to be asked for them.
//
// # What may go wrong
//
//   - A body is no message: *UnreadableError, and nothing of it is taken.
//   - A part of an agent's message cannot be used: it is counted by Reason, the rest is
//     taken. A feed's call is all or nothing: *commands.RuleError names what is wrong.
//   - The database fails after a part of an agent's message was written: the error comes
//     with the Receipt of that part, which is counted. Sent again, it counts once.
//   - The fleet's read model lags behind what was just registered: a feed is told
//     *LaggingError and sends again; an agent's sample or alert is the organization's
//     until its next message finds the instance.
package intake
