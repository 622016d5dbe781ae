// Package readiness checks that everything a process needs is available, cheaply enough for
// every prober.
//
// # How it works
//
// A Board has the checks of one process. Ask runs all of them side by side and waits two seconds
// at most. A failed required check (the database) makes the process unready. Any other failed
// check (the file store, the mail server) makes it degraded: it serves everything that does not
// need that part.
//
// A check runs once at a time, however many callers ask. A caller who comes while it runs waits
// for the same answer, and an answer holds for a second. A check that does not return is not
// started again: one goroutine hangs, not one for each question, and later callers are told at
// once that it hangs.
//
// A result is logged when it changes, and once a minute while it is a failure. The answer names
// checks and no reasons, because anybody may ask.
//
// # What may go wrong
//
// A check hangs where no context reaches it (a network file system): it counts as failed after
// two seconds, until it returns. Then its result counts again.
package readiness
