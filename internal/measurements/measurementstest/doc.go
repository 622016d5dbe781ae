// Package measurementstest holds a measurements.Store to its definitions: every
// reading as a case, and random lives against a plain reading over raw samples.
//
// Run is the suite. A case is samples in the order in which they arrive and numbers
// that one can work out by hand from the specification. What comes in several messages
// does so for two organizations: rolled up once at the end for the one, and after each
// message for the other.
//
// RunProperty draws fleets of all five engines, what their agents send, and how it
// arrives: counters that are reset, markers of staleness, scrapes in parts, edges of
// minutes, hours and weeks, imports of weeks ago, repeated, out of order, and rolled up
// now and then. It compares each tile at every size with Reference, which keeps all
// samples and reads all of them. RAPID_CHECKS says how many lives it draws.
//
// What may go wrong: the suite and the reference have been written by the same hands,
// so what both misread the property does not find; the suite's numbers come from the
// specification and not from the reference. Neither judges a maximum of a week that is
// over and of which something comes yet: the store has forgotten its queries one by one.
package measurementstest
