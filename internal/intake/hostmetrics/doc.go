// Package hostmetrics makes samples of hosts from agents' metrics, one data point at a time. It
// knows the names of node_exporter and windows_exporter, which come by remote_write, and those
// of OpenTelemetry's hostmetrics receiver, which come by OTLP. The decoders of both fill a
// Message; package agents looks up its instances and records its samples.
//
// A Metric says what a name means; metrics with other names are not read. One host and one time
// make one sample, whose counters and sizes are as the agent sent them. The store does the
// arithmetic, because it has the previous scrape.
//
//   - CPU: seconds by CPU and mode. Idle and iowait are idle. The mode guest is skipped, because
//     its time is already in user and nice. OpenTelemetry's wait, interrupt and the modes of the
//     older conventions are mapped to the same modes.
//   - Memory: used = total − available. node_exporter on Linux has both since kernel 3.14
//     (2014). A host without MemAvailable has no memory here, because a sum of free, buffers and
//     cache would need four series, which may come in four messages. OpenTelemetry's receiver
//     sends limit and available only if configured to. Without the limit, the total is the sum
//     of used, free, buffered, cached and inactive. This is exact if used is computed from the
//     others, as collectors before 0.142 do, and about two percent too high since. Without
//     available, used is what the receiver sends.
//   - File systems, as df shows them: used ÷ (used + available), whose sum is less than the size
//     by the space reserved for root. File systems that cannot fill are skipped
//     (measurements.NeverFills), and so are those without a size. A series of its own says that
//     one is read-only; it is stored as a volume that says so (Volume.ReadOnly). FreeBSD reports
//     a negative available size if root uses the reserved space: it counts as 0.
//   - Windows: windows_exporter has a drive where the others have a mount point, and no reserve:
//     free space is available. Its CPUs are named by node and number.
//
// The host is the label instance without scheme, port and path, or host.name, converted by
// fleet.HostKey. So two agents that spell it differently report one host. muster_instance, a
// label or a resource attribute, names what runs on it.
//
// # What may go wrong
//
//   - A point cannot be used: it is dropped and counted by reason, and the others are used. An
//     agent would repeat a refused message forever.
//   - A scrape comes in parts, because a sender has shards or a collector cuts batches: the
//     store merges samples of one host and time. Only a value that is computed from several
//     points (OpenTelemetry's memory and file systems) needs them in one message: half of them
//     is dropped as incomplete. Only used and free of Linux' memory without the rest look like a
//     host that has no other states, and give a percentage that is too high; system.memory.limit
//     prevents that.
//   - A message comes twice: its samples are the same, and count once.
//   - Both of a pair of Prometheus servers send the same host: their scrapes have different
//     times, and each counts.
//   - The agent loses the host: its staleness marker (or OTLP's flag) on the CPU's counters
//     makes a sample that says so, and no interval spans it. The marker of a file system only
//     says that this file system is gone.
//   - A clock is wrong: points more than five minutes ahead are dropped. Points from the past
//     are accepted, and the store decides which are too late.
//   - A message invents hosts, times, CPUs or volumes without end: after MaxSamples samples,
//     MaxPoints points, and a limited number of parts of one sample, the rest is dropped and
//     counted.
package hostmetrics
