// Package senders keeps the messages of each sender in the last day, by name: which samples
// were used, and why others were not. The page of operations shows it.
//
// # How it works
//
// Note counts in memory and returns at once. Run adds what was counted to the table
// sender_counts every 15 seconds, by hour. Several processes add to the same rows. What is
// older than a day is deleted once an hour.
//
// Admit bounds how many senders (X-Muster-Sender) a token and an organization have. Those of the
// last day are in the table known_senders.
//
// # What may go wrong
//
//   - An agent gets a new sender id at each start, as one without a directory of its own does: the
//     21st start of a day is refused (too_many_senders) until the first is a day old.
//   - A sender makes up names or senders without end: of a token at most 20 senders are
//     counted in an hour, and of a sender at most 200 names are told apart in a process; the rest is one.
//   - The database cannot be written to: what was counted stays, and is added later.
//   - A process is killed: what it counted in its last 15 seconds is missing.
package senders
