// Package otlp reads OTLP metrics (ExportMetricsServiceRequest) and logs
// (ExportLogsServiceRequest), as protobuf and as JSON, and writes the answer to them in the same
// form.
//
// While it decodes, it looks for the names of the hostmetrics receiver (package hostmetrics):
// the points of every other metric are counted and not read. Both forms are walked over in the
// bytes in which they came; built as messages, 32 MiB of empty ones would take gigabytes.
//
// It also looks for the metrics of databases and the log events that package receivers knows.
// The attributes of a record with an unknown name are not read.
//
// A sum must be cumulative: the store computes the differences, because it knows the previous
// samples. The start time of a counter is not read: a counter that began anew has fallen, or its
// gap is too long. Points may be integers or floats. A gauge counts like a sum that is not
// monotonic.
//
// # What may go wrong
//
//   - The body is no such message: an *intake.UnreadableError, and nothing is used. For JSON,
//     that applies to the members that are read. Unknown members are ignored, as OTLP demands,
//     and 64-bit numbers may be strings.
//   - A metric whose name is read is a delta, a histogram or a summary: it is dropped as
//     unsupported.
//   - A point is flagged as having no value: its series has ended, like a Prometheus series with
//     a staleness marker.
//   - host.name is missing: the points are dropped. The receiver does not add it; the
//     collector's resourcedetection processor does.
//   - A batch is cut between the states of one file system or of the memory: parts that are not
//     enough for a percentage are dropped as incomplete.
package otlp
