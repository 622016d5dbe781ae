// Package readiness checks that everything a process needs is available, cheaply enough
// for every prober.
//
// # How it works
//
// A Board has the checks of one process. Ask runs all of them side by side and waits
// two seconds at most. A check that is required (the database) makes the process
// unready, any other (the file store, the mail server) degraded: it serves what does
// not need that.
//
// However many ask, a check runs once at a time: who comes while it runs waits for the
// same answer, and an answer holds for a second. A check that does not come back is not
// started again: one goroutine hangs with the supplier, not one a question, and who
// asks is told at once that it hangs.
//
// What a check found is logged when it changes, and once a minute while it fails. The
// answer names checks and no reasons, for anybody may ask.
//
// # What may go wrong
//
// A check hangs where no context reaches it (a network file system): it counts as
// failed from two seconds on, until it returns. What it then found counts again.
package readiness
