// Package rollup rolls raw samples up to minutes, hours, days and weeks.
//
// A writer marks the minutes that a sample changes (dirty_hours). Roll claims marked hours,
// reads their samples, makes the minutes and the details of each hour (codec.Kind), and carries
// them on to its day and its week. It writes all of that and removes the marks in one
// transaction. It computes each bucket anew and adds to none, so running it twice has the same
// result.
//
// The details of a day or a week need its other hours and days too. The head has the open ones.
// Blocks have the others. They are read once, and their sum stays in the head (head_rests).
//
// After a crash of the database the head is empty, because its tables are UNLOGGED. Roll then
// marks all open hours of the ledger, and reads are refused until these are rolled up again.
//
// What may go wrong: an hour cannot be rolled up. It is logged and waits longer each time, while
// the others go on. If blocks cannot be reached, only the hours that need them wait.
package rollup
