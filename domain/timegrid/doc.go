// Package timegrid cuts time into the buckets of trend series: minutes, hours,
// days and weeks of UTC, half-open, weeks from Monday.
package timegrid
