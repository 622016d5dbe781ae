// Package hostmetrics makes samples of hosts out of agents' metrics, one
// data point at a time: the names of node_exporter and windows_exporter, which come by
// remote_write, and those of OpenTelemetry's hostmetrics receiver, which come by OTLP. The decoders of both
// fill a Message; package agents looks up its instances and records its samples.
//
// A Metric says what a name means; a name that means nothing here is not read. What
// is read becomes one sample a host and time, whose counters and sizes are as the
// agent gave them: the arithmetic is the store's, which sees the scrape before.
//
//   - CPU: seconds by CPU and mode. Idle and iowait are idle. Guest time is in user
//     and nice already, so that a mode guest is passed over. OpenTelemetry's wait,
//     interrupt and those of the older conventions are the same modes.
//   - Memory: used = total − available. node_exporter on Linux has both since 3.14
//     (2014); what has no MemAvailable has no memory here, since a sum of free, buffers
//     and cache would be of four series that may come in four messages.
//     OpenTelemetry's receiver tells limit and available only if asked to. Without
//     the limit the total is the sum of used, free, buffered, cached and inactive, which
//     is exact where used is made of the others, as collectors before 0.142 do, and
//     about two percent too much since. Without available, used is what they say.
//   - File systems as df shows them: used ÷ (used + available), whose sum is less than
//     the size by what is reserved for root. Those that cannot fill are passed over
//     (measurements.NeverFills), and so are those of no size. That one is read-only comes
//     as a series of its own, and is kept as a volume that says so (Volume.ReadOnly).
//     FreeBSD tells less than nothing available where root uses what is reserved: it is 0.
//   - Windows: windows_exporter has a drive where the others have a mount point, and no
//     reserve: what is free is available. Its CPUs are called by node and number.
//
// A host is what the label instance has beside scheme, port and path, or host.name, by
// fleet.HostKey: two agents that spell it differently speak of one host. muster_instance,
// a label or a resource attribute, names what runs on it.
//
// # What may go wrong
//
//   - A point cannot be used: it is dropped and counted by reason, the others are
//     taken; an agent would repeat for ever what is refused.
//   - A scrape comes in parts, as shards of a sender or batches of a collector cut it:
//     samples of one host and time are merged by the store. Only what a single value is
//     made of several points for (OpenTelemetry's memory and file systems) must be in
//     one message: half of it is dropped as incomplete. Only used and free of Linux'
//     memory without the rest look like those of a host that has no other states, and
//     make too high a percentage; system.memory.limit prevents it.
//   - A message comes twice: its samples are the same, and count once.
//   - Two of a pair of Prometheus servers send the same host: their scrapes are of
//     different times, and each counts.
//   - The agent loses sight of the host: its staleness marker (or OTLP's flag) on the
//     CPU's counters makes a sample that says so, across which no interval is taken.
//     That of a file system says only that this one is gone.
//   - A clock is wrong: what is more than five minutes ahead is dropped; what is
//     behind is taken, and the store says what is too late.
//   - A message makes up hosts, times, CPUs or volumes without end: after MaxSamples
//     samples, MaxPoints points, and so many parts of one sample, the rest is dropped
//     and counted.
package hostmetrics
