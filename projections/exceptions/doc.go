// Package exceptions is the read model of exceptions: which findings members asked to accept,
// and who decided.
//
// It reads the organization log and uses its streams of exceptions. People are in it by id. Each
// read judges whether a granted exception has lapsed, by the time that the reader passes.
// Nothing is written when it lapses.
//
// # What may go wrong
//
//   - The projection lags: an exception that was granted a moment ago still shows as requested.
//     A reader that must not miss one waits for the log's head first, as the builder of reports
//     does.
//   - A decision about an exception whose request was dropped cannot be applied. It is parked
//     with its stream.
//   - The clocks of two readers differ: one may show an exception as lapsed a moment before the
//     other.
package exceptions
