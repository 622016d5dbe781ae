// Package listen waits for PostgreSQL's notifications: the one loop behind every LISTEN.
//
// A notification says that something changed, but not what. Only connections that listen at that
// moment get it. So a woken process looks at the tables, and also polls them now and then.
//
// What may go wrong: the connection breaks (the server restarts, an operator ends the session).
// It is opened again after Retry. Once LISTEN is active, Heard is called with no payload, for
// what was announced meanwhile: a commit is seen after the outage and one Retry at the latest. A
// pooler in transaction mode gives the session to others; projections.RequireSessions refuses
// such an address at the start.
package listen
