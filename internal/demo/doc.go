// Package demo fills an organization to look at, through the same doors that
// real facts come in by, and lets it watch one server that is alive: Muster's own
// private PostgreSQL.
//
// Fill is a list of steps. Each looks whether it is done and can be run again:
// a process that dies halfway leaves an organization that the next start
// completes. Thirteen servers exist on paper only and come through
// commands.RecordFleet as a feed would send them; the fourteenth is registered
// with its DSN and assessed for real, over a small shop database with made-up
// people and a few planted mistakes. The reports are requested and built by the
// pipeline like any other: their digests, mails and failures are real.
//
// The organization is flagged as demo, and everything that shows it says so.
// Two processes may fill at once: the organization is claimed by an advisory
// lock, and the second one finds the steps done.
package demo
