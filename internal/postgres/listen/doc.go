// Package listen is the one loop behind every LISTEN.
//
// A notification says that it is worth looking, never what there is to be seen: it
// is heard by who listens at that moment and by nobody later. So whoever is woken
// looks at the tables, and polls them now and then as well.
//
// What may go wrong: the connection breaks (the server restarts, an operator ends
// the session). It is opened again after Retry, and once LISTEN holds Heard is called
// with no payload, for what was announced meanwhile: between a commit and its being
// seen lies at most the outage and one Retry. A pooler in transaction mode gives the
// session to others; projections.RequireSessions refuses such an address at start.
package listen
