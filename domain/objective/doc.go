// Package objective has the objectives of an organization: how available its servers have to be, and
// how long their statements may take on average, in a calendar month in UTC.
//
// An organization has one list of objectives. The first one that selects a server counts for it. A
// change replaces the whole list, and the event has both.
//
// Availability has three numbers: the time in which a server was up, was down, and in which nobody
// knows. Unknown time never counts as up. So the availability is a range: its low end counts unknown time
// as down, and its high end counts it as up. An objective is kept if the low end keeps it, and missed if
// the high end misses it. Otherwise, it cannot be told. Time in maintenance windows counts as none of the
// three.
//
// The mean latency is told with its coverage, which is the part of the hours that have executions.
// Below half of them, it cannot be told whether the objective is kept.
package objective
