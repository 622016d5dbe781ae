// Package senders keeps one day of statistics for each sender, by name: which samples of its
// messages were used, and why others were not. The page of operations shows them.
//
// # How it works
//
// Note counts in memory and returns at once. Run adds the counts to the table sender_counts
// every 15 seconds, by hour. Several processes add to the same rows. Counts older than a day are
// deleted once an hour.
//
// Admit limits how many senders (X-Muster-Sender) a token and an organization may have. The
// senders of the last day are in the table known_senders.
//
// # What may go wrong
//
//   - An agent gets a new sender id at each start, as one without its own directory does: the
//     21st start of a day is refused (too_many_senders) until the first is a day old.
//   - A sender invents names or senders without end: at most 20 senders of a token are counted
//     in an hour, and a process tells at most 200 names of a sender apart; the rest is one.
//   - The database cannot be written to: the counts stay in memory, and are added later.
//   - A process is killed: its counts of the last 15 seconds are missing.
package senders
