// Package httpapi is Muster's surface over HTTP: the API of openapi.yaml, the
// pages, and the manners that every answer has.
//
// openapi.yaml is the source of truth. From it come the generated types and the
// router's table (package api), the validation of every request, the docs page,
// and the table of routes with the roles and scopes that may call them. New
// refuses to build a server in which a route has no row or a row has no route.
//
// A request passes, from outside in: its span, request id (the caller's, else
// the id of its trace) and security headers, the end of panics, and what is
// recorded of it when it is over (outermost, observe); HEAD as GET; gzip;
// CORS; the length of the request line; the cross-origin check; the router; the
// gate. The gate is the one place where it is decided who is calling (a bearer
// token beats the cookie), whether they still have quota, whether their role and
// scopes admit them, and whether parameters and body can be read at all. A
// handler only sees requests that are in order by their form; rules are the use
// cases' (package commands), whose errors come back as problems. Every group of
// routes has a file.
//
// The pages are the application of web/, one document at every address of a page:
// it fills itself over the API, so nothing of anybody's is in it, and anyone may
// load it. A binary that was built without the application answers the API and says
// on its pages what is missing. The description of the API (/docs/api) is rendered
// here, from openapi.yaml. What is named by its content is kept for ever by
// browsers, all else is asked for again, so that no old script meets a new server.
//
// Every query carries the caller's organization. A foreign id is answered
// exactly like an unknown one.
//
// What comes in at /ingest a handler hands to a door of package intake, which owns what
// it means and whether the token may say it. What standard agents send has forms of its
// own: openapi.yaml hands it on as it came.
//
// The windows and filters of the dashboard are read in one place, window.go. A
// filter resolves to servers before anything is counted, so that one that nothing
// matches counts nothing, and never everything.
//
// The tiles with a window cover whole buckets, so that all who ask for the same
// buckets of the same servers are shown one reading for 30 seconds (tile_cache.go),
// each with the window that they asked for. It is kept as the bytes of the answer,
// plain and packed (tile.go). Connections are read for every caller.
//
// # What may go wrong
//
//   - The process dies between a write and its answer: the caller does not know
//     whether it happened. With an Idempotency-Key they may ask again: the key
//     is claimed before the write and answered from the record afterwards. A key
//     whose holder died answers idempotency_in_progress, with the seconds left in
//     Retry-After, until its claim is half a minute old, and then the request runs
//     again. What it makes has the id that came
//     with the first claim, so that what the dead one made is found and not made
//     twice.
//   - Two identical requests at once: the database makes them one report
//     (commands); with one key, the second is told idempotency_in_progress.
//   - The answer to an action on an alert is lost: whoever asks again is told
//     invalid_state, and finds the alert as they left it.
//   - A member is erased: answers that name them are forgotten with them, in one
//     transaction. One that is being given to somebody else at that moment is kept
//     after it, and goes with the first key that is used a day later.
//   - Projections lag: a write waits for them up to a second, then answers with
//     X-Muster-Lagging and what it knows of itself.
//   - The process dies between the record of a download and its last byte: the
//     log says "downloaded" of a file that nobody has whole, never the reverse.
//   - A stored PDF was changed, swapped or taken away: 500 file_altered, no byte of
//     it, HEAD and ranges alike, and nobody is said to have downloaded it; the audit
//     list (fileAltered), the log and muster_http_problems_total tell of it. A file is
//     read to its end before its first byte is sent, and then read again as it is
//     sent: twice the reading (some hundred kilobytes; 2,000 pages are a few
//     megabytes), for a range of it, too, and no memory. Somebody who overwrites it in
//     place between the two readings is not seen; Repr-Digest then does not fit.
//   - A worker is faster than the answer to a request for a report: the answer
//     tells the report as the request left it; what happened since is at Location.
//   - The database is away: 503 with Retry-After, and nothing else of it; the
//     error is in the log under the request id. /healthz still answers.
//   - Two replicas: each counts requests by itself, so that a caller spread over
//     both has twice the quota. What must not be doubled (creations, sign-in
//     attempts) is counted in the database.
//   - The clock jumps back: a quota's window that lies in the future is begun
//     anew, so that nobody is locked out. Expiry of reports, tokens and sessions
//     is judged by the clock at every read.
//   - More is sent to /ingest than can be taken in: a few calls work, a few more
//     wait, the next are told rate_limited at once (agents: unavailable, which they
//     try again), of one organization sooner than of all. Nothing of such a call was
//     kept. Places are this process's.
//   - Everything is wrong with a large body: the first 10,000 faults are named, and
//     what it takes to find them is no more than the body itself.
//   - Many ask for one tile at once: it is read once, and whoever gave up waiting does
//     not end it for the others. A reading that hangs ends after 20 seconds, as
//     unavailable; one that panics is told as internal_error.
//   - One engine of a tile cannot be read: it is missing in engines, in the log and in
//     muster_tile_engine_dropped_total, and the answer is kept by nobody. If none can,
//     the answer is unavailable or internal_error.
//   - An instance is registered or removed: its past shows in a filtered tile, or ceases
//     to, up to 30 seconds later, with everything else that changed meanwhile.
//   - Tiles are kept by each process for itself: a caller spread over two replicas may
//     see one that is up to 30 seconds older than the one before (generatedAt says so).
//     One that is asked for more than there is room for forgets the oldest tiles, and
//     reads them anew.
//   - A client sends its body a byte at a time: it is told request_timeout after ten
//     seconds, or after a minute where the body may be large and the caller was let
//     in, and the connection is closed; also where nobody wants the body.
//   - A client reads slowly or not at all: it holds one connection, until the
//     server's write timeout.
package httpapi
