// Package export sends a process's metrics and traces (package telemetry) to an OpenTelemetry
// collector.
//
// It is off until the standard variables name a collector (docs/operators.md). Off means nil: no
// goroutine, no span, no tracer on the pool. On, spans and the registry's metrics (bridged, not
// counted twice) are sent over OTLP/HTTP.
//
// The exporters are most of what OpenTelemetry is made of, and only serve starts them: whoever
// counts or traces something imports telemetry alone.
//
// # What may go wrong
//
//   - The collector is away or slow: spans queue in memory (2,048) and are dropped when the
//     queue is full; nothing waits for it. One line a minute says so.
//   - The process stops: the rest is sent for at most two seconds. A killed process loses the
//     spans of its last seconds, and no fact: those are in the event log.
//   - A variable has an unsupported value (gRPC, an invalid address): that is logged, and the
//     process runs without.
package export
