// Package telemetry keeps Muster's own figures: one Prometheus registry a
// process, handed in where something is counted.
//
// Figures that live in the database (projection lag, the job queue) are read at
// scrape time, so that every process answers with the same numbers and none has
// to keep them. A scrape waits at most two seconds for them; a reading that
// fails is reported as a scrape error of that figure and the others are served.
// No label carries a name, an address or an organization.
package telemetry
