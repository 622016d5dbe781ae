// Package otlp reads OTLP metrics (ExportMetricsServiceRequest) and logs
// (ExportLogsServiceRequest), as protobuf and as JSON, and writes the answer to them in
// the same form.
//
// It looks for the names of the hostmetrics receiver (package hostmetrics) while it
// decodes: the points of every other metric are counted and not read. Either form is
// walked over in the bytes that it came in; built as messages, 32 MiB of empty ones
// would be gigabytes.
//
// Of metrics it also looks for those of databases, and of logs for the events, that package
// receivers knows. Of a record that is named and of no use the attributes are not read.
//
// A sum must be cumulative: the differences are the store's to take, which knows the
// samples before. The start of a counter is not read: one that began anew has fallen,
// or its gap is too long. Points are whole numbers or not, and a gauge is as good
// as a sum that is not monotonic.
//
// # What may go wrong
//
//   - The body is no such message: an *intake.UnreadableError, and nothing is taken. Of
//     JSON that goes for what is read; unknown members are passed over, as OTLP demands,
//     and numbers of 64 bits may be texts.
//   - A metric of a name that is read is a delta, a histogram or a summary: dropped as
//     unsupported.
//   - A point is flagged as having no value: its series has ended, like one of
//     Prometheus with a staleness marker.
//   - There is no host.name: the points are dropped. The receiver does not add it, the
//     collector's resourcedetection processor does.
//   - A batch is cut between the states of one file system or of the memory: what a
//     percentage cannot be made of is dropped as incomplete.
package otlp
