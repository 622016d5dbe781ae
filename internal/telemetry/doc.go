// Package telemetry exports figures and traces of a running Muster, and ties log lines to
// requests, without naming any person.
//
// # Figures
//
// One Prometheus registry a process (Metrics), handed in where something is
// counted. Figures that live in the database (projection lag, the job queue)
// are read at scrape time, so that every process answers with the same numbers
// and none has to keep them. A label's values come from a list that is fixed
// when the program is built: route patterns, kinds, codes of the contract. None
// carries a name, an address or an organization, and no caller can make one.
//
// Until when a certificate is good is no figure of the database's: it is noted where one is
// met or signs (Certificates).
//
// # Traces and metrics over OpenTelemetry
//
// Off, until the standard's own variables name a collector (docs/operators.md). Off
// means nil: no goroutine, no span, no tracer on the pool. On, spans and the
// registry's figures (bridged, not counted twice) go out over OTLP/HTTP.
//
// A request is a span named by method and route pattern, each statement of a
// request or a job one with its text and without its parameters, each attempt
// at a job one in a trace of its own with a link to whoever inserted the job: a
// report that expires in a month does not belong into the trace of the request
// that asked for it. A step (Step) is a span where its parent is one. The job
// carries the caller's traceparent and tracestate in its metadata (Carry,
// Resume), also where this process exports nothing and another does. What a
// process asks by itself (polls, heartbeats, projections) makes no spans: lag is
// a figure.
//
// No span holds a path, a query, an address, a user agent, a parameter or the
// text of an error: all of them may name people or secrets. An error is its
// code: the problem's, the SQLSTATE.
//
// # Logs
//
// LogHandler adds requestId and traceId from the context, so a line that is
// logged with its context says what it belongs to. A job carries the id of the
// request that led to it, and its lines do as well.
//
// # What may go wrong
//
//   - The database does not answer a scrape: it waits at most two seconds for
//     each figure, which is left out then; the others are served.
//   - The collector is away or slow: spans queue in memory (2,048) and are
//     dropped when that is full, never waited for. One line a minute says so.
//   - The process stops: what is left is sent for at most two seconds. One that
//     is killed loses the spans of its last seconds, and no fact: those are in
//     the event log.
//   - A variable cannot be followed (gRPC, an address that is none): that is
//     logged, and the process runs without.
//   - A caller sends a traceparent that is not one: it is ignored.
package telemetry
