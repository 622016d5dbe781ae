// Package prove has the commands of auditors: they list and verify the logs, check files, write
// evidence, build reports again, and keep the keys that sign.
//
// # What may go wrong
//
// A question has no answer, because a log or a key is missing: the exit status is 3, never 0.
package prove
