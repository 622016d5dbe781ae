// Package remotewrite reads what Prometheus and its kin send: messages of
// remote_write 1.0 (prometheus.WriteRequest) and 2.0 (io.prometheus.write.v2.Request),
// unpacked. The answer to a message is not of this package.
//
// It looks for the names of node_exporter that mean something (package hostmetrics)
// while it decodes: a series of any other name is stepped over as soon as its name is
// known, and costs neither an allocation nor a look at its samples, which are counted
// only. Of a scrape of a small host 22 of 507 series are read.
//
// # What may go wrong
//
//   - The body is no such message: an *intake.UnreadableError, and nothing is taken.
//     The wrong one of the two is an empty message, as its authors planned it; which
//     it is, the content type says.
//   - Labels come unordered or as megabytes: they are found in any order, and nothing is
//     copied that is not kept. A series with a label twice is dropped as duplicate_label.
//   - Symbols come in millions, or a reference to one is out of bounds: a symbol
//     takes eight bytes beside its own, and the series is dropped as malformed.
//   - A value is the special NaN of a staleness marker: the series has ended. Any other
//     NaN is none that a host's figures have.
//   - Series have histograms and exemplars: none that is read here has any. They are
//     counted.
package remotewrite
