// Package ledger has what the rooms of pgstore share: the parts of a store, the retention of
// their rows, and the locks of series.
//
// Everything done to a series is done under its row in measured_series. Claim and Hold lock such
// rows, skip those that other transactions hold (SKIP LOCKED), and first make sure that the
// blocks are where this process has them. A statement of its own takes the lock, so everything
// found before it is checked again.
//
// What may go wrong: blocks cannot be reached (IsAway). Their hours stay in the head, NoteAway
// records the series for all processes, and after HeadBound their samples are refused.
package ledger
