// Package zones loads time zones from the newest available zone data: the program's own, or the
// machine's.
//
// Rules of zones change several times a year, often weeks before they apply, so data that is a
// year old computes due times that are an hour off. The data that the Go toolchain carries is as
// old as the toolchain.
//
// # How it works
//
// The program embeds zoneinfo.zip, which zic makes from testdata/tzdata.zi, the text form of a
// release of the IANA database. Newest compares its release with those of the directories that
// Go reads, ZONEINFO first, and picks the newest; of two equal ones, it picks the program's. A
// machine's release is the first that exists of +VERSION, the first line of tzdata.zi, and the
// version of the package tzdata (dpkg, apk). If nothing names the release, the data is compared
// with known rules: it is newer than the program's if it has all of them and differs from the
// program's data within the next two years.
//
// Load looks again once an hour, so an upgrade of the machine's package needs no restart. If the
// chosen directory lacks a name (Debian ships US/Pacific in another package), it comes from the
// program's data.
//
// # How to renew the data
//
// scripts/update_zones.sh FILE takes the tzdata.zi of a release, from Debian's package tzdata or
// from the IANA, and makes the zip. Put the date of the release into `released`.
//
// # What may go wrong
//
//   - The newest data is older than a year: Stale says so. The check time_zones makes /readyz
//     degraded, and the pages of schedules show it.
//   - Drivers (go-ora, clickhouse-go) load zones with time.LoadLocation, to read the local times
//     that a server sends. They use the machine's data, then the toolchain's.
package zones
