// Package wire is what every group of handlers uses between a request and its answer.
//
// The server's outermost layer makes a Call of every request, the gate fills it, and
// handlers read from the context who calls (Caller; Actor, as use cases know them;
// Client, for sessions) and write headers of the answer into it. What goes wrong is a
// Problem (RFC 9457), which is an error and is returned like any other; whatever else
// is returned as an error, the server translates.
//
// An answer has a subject, which decides whether it fails, and figures beside it. What of
// these cannot be read is null, and the member unavailable names it and says why (Side).
//
// The windows and filters of lists and tiles are read here. A filter resolves to
// servers before anything is counted, so that one that nothing matches counts
// nothing, and never everything. Rules that several parameters break are told at once
// (BrokenRules). Cursors are opaque and know which list they belong to.
//
// After a write, Settle waits until every list shows it. Projections may lag: it waits
// for up to a second, then the answer says X-Muster-Lagging and what it knows of itself.
package wire
