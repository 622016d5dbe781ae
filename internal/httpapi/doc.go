// Package httpapi serves Muster over HTTP: the API of openapi.yaml, the pages, and the behavior
// that all answers share.
//
// openapi.yaml is the source of truth. These come from it: the generated types and the router's
// table (package api), the validation of every request, the content of the API viewer, and the
// table of routes with the roles and scopes that may call them. New refuses to build a server if
// a route has no row or a row has no route.
//
// A request passes these layers, from outside in:
//
//  1. its span, its request id (the caller's, else the id of its trace) and security headers,
//     recovery from panics, and what is recorded when it is over (outermost, observe);
//  2. HEAD as GET;
//  3. gzip;
//  4. CORS;
//  5. the length of the request line;
//  6. the cross-origin check;
//  7. the router;
//  8. the gate.
//
// The gate alone decides who is calling (a bearer token takes precedence over the cookie),
// whether they still have quota, whether their role and scopes admit them, and whether
// parameters and body can be read at all. A handler only sees requests with a valid form. The
// use cases check the rules (package commands), and their errors are returned as problems.
//
// The pages are the application of web/ and the viewer of the API. Package pages serves them, to
// anyone.
//
// Every query carries the caller's organization. The answer to an id of another organization is
// exactly the answer to an unknown one.
//
// Each group of routes is a package. Its routes.go declares its dependencies, and it knows no
// other group. Package wire has what the groups share, and package contract reads openapi.yaml.
// The doc.go of each group says what may go wrong with its routes.
//
// # What may go wrong
//
//   - The process dies between a write and its answer: the caller does not know whether it
//     happened. With an Idempotency-Key they may ask again: the key is claimed before the write,
//     and later calls are answered from the record. If the holder of a key died, the answer is
//     idempotency_in_progress, with the seconds left in Retry-After, until the claim is half a
//     minute old. Then the request runs again. It uses the id that came with the first claim, so
//     a resource that the dead holder created is found and not created twice.
//   - Two identical requests come at once: the database makes them one report (commands). With
//     the same key, the second gets idempotency_in_progress.
//   - The database is away: 503 with Retry-After, and no details. The error is in the log under
//     the request id. /healthz still answers.
//   - A source fails that is not the subject of an answer (a shard of measurements is away, a
//     figure is not kept for so long, a read model cannot be read): the answer stands. The
//     figures are null, which is not zero, and the member unavailable names them with a code and
//     a sentence (wire.Side). All such sources share five seconds, because a server that does
//     not answer would use up the time of the request. For each source, sources_test.go lists
//     the answers whose subject it is; only these fail with it.
//   - There are two replicas: each counts requests by itself, so a caller spread over both has
//     twice the quota. Limits that must not double (creations, sign-in attempts) are counted in
//     the database.
//   - The clock jumps back: a quota's window that lies in the future begins anew, so nobody is
//     locked out. Expiry of reports, tokens and sessions is judged by the clock at every read.
//   - More is sent to /ingest than can be processed: a few calls work, a few more wait, and the
//     next ones get rate_limited at once (agents get unavailable, after which they try again).
//     The limit of one organization is reached sooner than the limit of all. Nothing of a
//     refused call is stored. The places belong to this process.
//   - One token takes all places of its organization: as soon as another of its tokens calls, it
//     gets no more than half of them. The places that it holds then are free within a minute and
//     a half.
//   - One organization sends all the time, or sends the largest possible bodies: organizations
//     take turns, and none has more than half of the places. Of calls over 4 MiB unpacked, one
//     works at a time, beside the others. A call that has waited for longer than a write may
//     take is refused like the rest.
//   - A budget of the organization or of its token is used up (package budgets): the call gets
//     budget_exhausted, before its body is read if no byte is left. The unpacked bytes of a body
//     are counted before its form is checked.
//   - A client sends its body one byte at a time: it gets request_timeout after ten seconds, or
//     after a minute if the body may be large and the caller was admitted. The connection is
//     closed. This also applies if no handler wants the body.
//   - A client reads slowly or not at all: it holds one connection, until the server's write
//     timeout.
package httpapi
