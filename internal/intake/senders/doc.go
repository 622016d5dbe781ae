// Package senders keeps what each sender sent in the last day, by name, and what became of
// it: what was used, and what was not and why. The page of operations shows it.
//
// # How it works
//
// Note counts in memory and returns at once. Run adds what was counted to the table
// sender_counts every 15 seconds, by hour. Several processes add to the same rows. What is
// older than a day is deleted once an hour.
//
// # What may go wrong
//
//   - A sender makes up names or senders without end: of a token at most 20 senders an hour
//     and of a sender at most 200 names are told apart in a process; the rest is one.
//   - The database cannot be written to: what was counted stays, and is added later.
//   - A process is killed: what it counted in its last 15 seconds is missing.
package senders
