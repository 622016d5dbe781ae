// Package telemetry counts and traces what a running Muster does, and connects log lines to
// requests, without naming any person. Package export sends metrics and traces to a collector.
//
// # Metrics
//
// Each process has one Prometheus registry (Metrics), which is passed to the code that counts
// something. Figures in the database (projection lag, the job queue) are read at scrape time, so
// every process answers with the same numbers and none has to store them. A label's values come
// from a list that is fixed when the program is built: route patterns, kinds, codes of the API
// contract. None contains a name, an address or an organization, and no caller can create one.
//
// The expiry date of a certificate is not in the database: it is recorded when a certificate is
// met or signs (Certificates).
//
// # Traces
//
// A request is a span named by method and route pattern. Each statement of a request or a job is
// a span with its text and without its parameters. Each attempt at a job is a span in a trace of
// its own, with a link to the request that inserted the job: a report that expires in a month
// does not belong in the trace of its request. A step (Step) is a span if its parent is one. The
// job carries the caller's traceparent and tracestate in its metadata (Carry, Resume), even if
// this process exports nothing and another does. Work without a request (polls, heartbeats,
// projections) makes no spans: lag is a metric.
//
// No span holds a path, a query, an address, a user agent, a parameter or the text of an error,
// because each of them may name people or contain secrets. An error is represented by its code:
// the problem's, or the SQLSTATE.
//
// # Logs
//
// LogHandler adds requestId and traceId from the context, so a line that is logged with its
// context says to what it belongs. A job carries the id of the request that led to it, and its
// lines have it as well.
//
// # What may go wrong
//
//   - The database does not answer a scrape: it waits at most two seconds for each figure, and
//     leaves it out then. The others are served.
//   - A caller sends an invalid traceparent: it is ignored.
package telemetry
