// Package httpapi is Muster's surface over HTTP: the API of openapi.yaml, the
// pages, and the manners that every answer has.
//
// openapi.yaml is the source of truth. From it come the generated types and the
// router's table (package api), the validation of every request, what the viewer of
// the API shows, and the table of routes with the roles and scopes that may call
// them. New refuses to build a server in which a route has no row or a row has no route.
//
// A request passes, from outside in: its span, request id (the caller's, else
// the id of its trace) and security headers, the end of panics, and what is
// recorded of it when it is over (outermost, observe); HEAD as GET; gzip;
// CORS; the length of the request line; the cross-origin check; the router; the
// gate. The gate is the one place where it is decided who is calling (a bearer
// token beats the cookie), whether they still have quota, whether their role and
// scopes admit them, and whether parameters and body can be read at all. A
// handler only sees requests that are in order by their form; rules are the use
// cases' (package commands), whose errors come back as problems.
//
// The pages are the application of web/ and the viewer of the API; package pages serves
// them, to anyone.
//
// Every query carries the caller's organization. A foreign id is answered
// exactly like an unknown one.
//
// Each group of routes is a package, which says in its routes.go what it stands on and
// knows no other group; wire is what they share, contract reads openapi.yaml. Their
// doc.go say what may go wrong with them.
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
//   - The database is away: 503 with Retry-After, and nothing else of it; the
//     error is in the log under the request id. /healthz still answers.
//   - A source of an answer fails that is not its subject (a shard of measurements is away,
//     a figure is not kept as far back, a read model cannot be read): the answer stands. The
//     figures are null, which is not zero, and the member unavailable names them with a code
//     and a sentence (wire.Side). They have five seconds together, since a server that says
//     nothing would take all the time of the request. sources_test.go has for each source the
//     answers of which it is the subject, which are the only ones that fail with it.
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
//   - One token takes all places of its organization: as soon as another of its tokens calls,
//     it gets no more than half of them. What it holds then ends within a minute and a half.
//   - One organization sends all the time, or the largest bodies that there are: turns go
//     round by organization, and none has more than half of them. Of calls over 4 MiB
//     unpacked one works at a time, beside the others. Whoever has waited for longer than a
//     write may take is turned away like the rest.
//   - A budget of the organization or of its token is used up (package budgets): the call is
//     told budget_exhausted, before its body is read where no byte is left. What a body has
//     unpacked is counted before its form is held against it.
//   - A client sends its body a byte at a time: it is told request_timeout after ten
//     seconds, or after a minute where the body may be large and the caller was let
//     in, and the connection is closed; also where nobody wants the body.
//   - A client reads slowly or not at all: it holds one connection, until the
//     server's write timeout.
package httpapi
