// Package wire has what every group of handlers uses between a request and its answer.
//
// The server's outermost layer creates a Call for every request, and the gate fills it. Handlers
// read from the context who calls (Caller; Actor, for use cases; Client, for sessions) and write
// the headers of the answer into it. A failure is a Problem (RFC 9457), which is an error and is
// returned like any other. The server translates every other error.
//
// An answer has a subject, which decides whether it fails, and further figures. Figures that
// cannot be read are null, and the member unavailable names them and says why (Side).
//
// The windows and filters of lists and tiles are read here. A filter is resolved to servers
// before anything is counted. So a filter that matches nothing counts nothing, and never
// everything. Broken rules of several parameters are reported at once (BrokenRules). Cursors are
// opaque and know which list they belong to.
//
// After a write, Settle waits until every list shows it. If projections lag, it waits for up to
// a second. Then the answer has X-Muster-Lagging and shows what it knows itself.
package wire
