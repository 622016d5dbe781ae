// Package roster brings an organization to what a file declares about it: its servers
// with their connections, its exceptions and its settings.
//
// Reader reads the YAML strictly and tells everything that is wrong with it at once,
// each with line, field and rule; a fault repeats no value of the file. Source loads what
// there is, Compare makes the difference, and Applier applies it, each change in a
// transaction of its own and by the use cases that the API goes by (package commands): the
// log names who did what, and nothing is possible here that an administrator could not
// do on the page.
//
// An instance is known by its externalId. Names may repeat in an organization, and they
// change; the external id is unique there, the event store holds it to that, and it never
// changes. So a new name in the file is a rename, and the history stays. What somebody
// registered on the page has its id as externalId and can be taken into a file under that.
// An exception is what it is about (check, instance, database, object); its reason and
// time cannot be changed once an administrator has agreed to them, so that another one
// takes its place, which is in force before the old one is revoked.
//
// What an entry leaves out stays as it is, and so does a list that the file does not have.
// What a list does not name stays, too, and is listed; it is removed with prune alone. A
// server that a feed or an agent keeps sending is not pruned: it would come back as a new
// one, without its history.
//
// Connections are compared as what they lead to. Of a difference only user and host are
// shown. Each new one is tried before anything is written, 16 at a time, and a server
// that cannot be reached is left out while the others are applied.
//
// # What may go wrong
//
//   - It is killed anywhere: what was applied is there, the next run finds the rest. An
//     exception may have been asked for and not granted: the next run grants it. Of one
//     that takes the place of another both may be in force until then.
//   - Two runs at once: the second waits for the first (Turn) and then finds nothing to do.
//   - Somebody changes the same on the page meanwhile: a connection and the settings are
//     replaced only where they are what was compared (precondition_failed), an instance is
//     registered only where its external id is free. Of a name, the last one counts.
//   - The read models lag: what was written a moment ago is waited for; without anybody
//     who fills them the command fills them itself.
//   - The first assessment has not been yet: an exception about one of the databases that
//     it will find waits for a later run.
package roster
