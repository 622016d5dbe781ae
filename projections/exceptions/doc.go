// Package exceptions is the read model of the exceptions of every organization:
// who asked to live with which findings, and who decided.
//
// It reads the organization log and takes from it the streams of exceptions.
// People are in it by id. Whether a granted exception has lapsed is judged at
// every read by the time that the reader gives; nothing is written when it does.
//
// # What may go wrong
//
//   - The projection lags: an exception that was granted a moment ago is still
//     only asked for. Who must not miss one waits for the log's head first, as
//     the builder of reports does.
//   - A decision about an exception whose request was dropped cannot be applied
//     and is parked with its stream.
//   - The clocks of two readers differ: one may show an exception as lapsed a
//     moment before the other.
package exceptions
