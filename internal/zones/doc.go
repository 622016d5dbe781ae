// Package zones loads time zones from the newest zone data that there is: the program's
// own, or the machine's.
//
// Rules of zones change several times a year, often weeks before they apply, so data that
// is a year old computes due times that are an hour off. The data that the Go toolchain
// carries is as old as the toolchain.
//
// # How it works
//
// The program embeds zoneinfo.zip, which zic makes of testdata/tzdata.zi, the text form of
// a release of the IANA's database. Newest compares its release with those of the
// directories that Go reads, ZONEINFO first, and picks the newest; of two equal ones the
// program's. A machine's release is the first that is there of +VERSION, the first line of
// tzdata.zi, and the version of the package tzdata (dpkg, apk). Where nothing names the
// release, the data is held against known rules: it is newer than the program's if it has
// all of them and differs from the program's data within the next two years.
//
// Load looks again once an hour, so that an upgrade of the machine's package needs no
// restart. A name that the chosen directory lacks (Debian ships US/Pacific in another
// package) comes from the program's data.
//
// # How to renew the data
//
// scripts/update_zones.sh FILE takes the tzdata.zi of a release, from Debian's package
// tzdata or from the IANA, and makes the zip. The date of the release goes into `released`.
//
// # What may go wrong
//
//   - The newest data is older than a year: Stale says so; /readyz is degraded by the check
//     time_zones, and the pages of schedules say it.
//   - Drivers (go-ora, clickhouse-go) load zones with time.LoadLocation, to read the local
//     times that a server sends. They go by the machine's data, then by the toolchain's.
package zones
