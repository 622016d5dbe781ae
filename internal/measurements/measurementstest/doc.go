// Package measurementstest tests a measurements.Store against its definitions: with one case for
// every reading, and with random lives that are compared with a plain reading of raw samples.
//
// Run is the suite. A case has samples in the order of their arrival, and numbers that can be
// computed by hand from the specification. Cases with several messages run for two
// organizations: one is rolled up once at the end, and the other after each message.
//
// RunProperty draws fleets of all five engines, what their agents send, and how it arrives:
// counter resets, staleness markers, scrapes in parts, edges of minutes, hours and weeks,
// imports of past weeks, repeated, out of order, and rolled up now and then. It compares each
// tile at every size with Reference, which keeps and reads all samples. RAPID_CHECKS says how
// many lives it draws.
//
// What may go wrong: the same people wrote the suite and the reference, so the property does not
// detect what both misread. The suite's numbers come from the specification and not from the
// reference. Neither checks the maximum of a past week to which samples are still added: the
// store has forgotten its single queries.
package measurementstest
