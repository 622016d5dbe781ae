// Package fleetfile applies the fleet file to an organization: its servers with their connections,
// its teams, its channels and rules of notifications, the settings of watch rules, recurring maintenance windows,
// objectives, its exceptions and its settings.
//
// Reader reads the YAML strictly and reports all faults at once, each with line, field and rule;
// a fault repeats no value of the file. Source loads the current state, Compare computes the
// difference, and Applier applies it. Each change is one transaction and uses the use cases of
// the API (package commands). So the log names who did what, and the file can do only what an
// administrator can do on the page.
//
// An instance is identified by its externalId. Names may repeat in an organization, and they
// change. The external id is unique there, which the event store enforces, and never changes. So
// a new name in the file is a rename, and the history stays. A server that somebody registered
// on the page has its id as externalId, and a file can use that. An exception is identified by
// its subject (check, instance, database, object). Its reason and time cannot be changed once an
// administrator has granted it, so a new one replaces it and is in force before the old one is
// revoked. A team is identified by its name, and its members by their addresses. New teams come
// after the existing ones, in the order of the file. Channels and rules are identified by their
// names, too. Two with the same name are an error. A file has no
// channel with an address or a secret.
//
// A field that an entry leaves out stays as it is, but the recipients of a channel and what a rule
// matches are what the entry says. A list that the file does not have stays, too. Items missing from a list stay, too, and are reported; only prune removes them. A server
// that a feed or an agent keeps sending is not pruned: it would come back as a new one, without
// its history.
//
// Connections are compared by their targets. A difference shows only user and host. Each new
// connection is tried before anything is written, 16 at a time. A server that cannot be reached
// is left out while the others are applied.
//
// # What may go wrong
//
//   - A watch rule's threshold is with the organization's settings: a file that says it in both places is refused, because
//     each run would change it twice.
//   - The command is killed anywhere: applied changes stay, and the next run finds the rest. An
//     exception may have been requested and not granted: the next run grants it. If it replaces
//     another, both may be in force until then.
//   - Two runs at once: the second waits for the first (Turn) and then finds nothing to do.
//   - Somebody changes the same on the page meanwhile: a connection and the settings are
//     replaced only if they are still as compared (precondition_failed), and an instance is
//     registered only if its external id is free. For a name, the last one counts.
//   - The read models lag: the command waits until they show what was written a moment ago. If
//     no process fills them, the command fills them itself.
//   - The first assessment has not run yet: an exception about one of the databases that it will
//     find waits for a later run.
package fleetfile
