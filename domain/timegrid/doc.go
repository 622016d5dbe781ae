// Package timegrid cuts time into the buckets of trend series: minutes, hours,
// days and weeks of UTC, half-open, weeks from Monday.
//
// The grid is the same for everybody: a Size alone says where every bucket starts
// and ends. A Window is what somebody asks for; it need not begin or end at the
// edge of a bucket, and its series has every bucket that it touches. Which part of
// the first and the last one counts is for the series to say: alert history counts
// what lies in the window, the metrics count whole buckets.
//
// What may go wrong: a window is wide and its buckets are narrow; Len says how
// many there are, so that a caller can refuse before it makes them. Years before
// 1970, and further from it than a time.Duration reaches, are on the same grid. A
// leap second is none of a bucket's: Unix time does not have it. PostgreSQL cuts
// the same grid by date_bin with the origin 1970-01-05 00:00Z.
package timegrid
