// Package ingest answers what programs send: the native feed, Prometheus' remote_write,
// OTLP and Alertmanager. A handler reads, calls a door of package intake, and answers.
// What a message means, and whether its sender may say it, is the doors'.
//
// What standard agents send has forms of its own (openapi.yaml hands it on as it came):
// its door reads it, and says what of it cannot be used.
//
// # What may go wrong
//
//   - An agent's message is written a thousand alerts at a time. The process dies
//     between, or the agent gives up waiting: what was written stays, and changes
//     nothing more when the message comes again.
//   - The fleet's read model lags behind what was just registered: an agent's
//     alert is the organization's until its next message finds the instance.
package ingest
