// Package snapshottest builds documents for tests: a rich one, an empty one, a hostile one and a
// huge one, for each report kind.
//
// They are pure: the same call gives the same document, so golden files may depend on them.
package snapshottest
