// Package timegrid divides time into the buckets of trend series: minutes, hours, days and weeks
// in UTC. Buckets are half-open, and weeks begin on Monday.
//
// The grid is the same for every reader: a Size alone defines where each bucket starts and ends.
// A Window is the period that a caller requests. It does not have to begin or end at the edge of
// a bucket, and its series has every bucket that it touches. Each series decides how to count
// partial first and last buckets: alert history counts what lies in the window, and metrics
// count whole buckets.
//
// What may go wrong: a window may be long and its buckets short. Len returns the number of
// buckets, so that a caller can refuse before it allocates them. The grid also covers years
// before 1970 and times further from 1970 than a time.Duration can express. Unix time has no
// leap seconds, so no bucket has one. PostgreSQL produces the same grid with date_bin and the
// origin 1970-01-05 00:00Z.
package timegrid
