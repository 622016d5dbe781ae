// Package topic makes the event logs Watermill topics: consumer groups that
// read a log in order and write what follows from it exactly once.
//
// Nothing is published: a Subscription is the schema and offsets adapter of a
// watermill-sql subscriber and reads the events table itself. A message is a
// page of up to a thousand events behind the group's checkpoint. The page, what
// the group writes for it and the checkpoint's move share one READ COMMITTED
// transaction that holds the checkpoint row; so two processes that both believe
// to be the group's reader take turns, and neither applies what the other has.
//
// Events are decoded before they are applied, on all processors. While a full page is
// applied, the page behind it is read and decoded on another connection; the next
// transaction then only locks the checkpoint, where it stands at that page's beginning.
// A group has two pages in memory at most.
//
// A page is applied under one savepoint. If that fails, it is applied again
// with a savepoint an event; the stream of an event that fails by itself is
// parked in dead_letters, later events of that stream wait behind it in order,
// and other streams go on. Retry replays a parked stream in order; Drop leaves
// its first event out and is remembered by (handler, log, position), so that
// the next generation of the same projection passes over it too. What would
// fail for any event (connection, resources, conflicts, a schema that does not
// fit, a HeldError) parks nothing: the page is tried again.
//
// After a page a group reads the next at once; when there is none it blocks on
// a listen.Wake, which the appending process raises and other processes raise through
// LISTEN/NOTIFY, and at most one second (SafetyPoll). A look that finds nothing
// locks and writes nothing.
//
// # What may go wrong
//
//   - The process dies anywhere: the transaction is gone, the page comes again,
//     nothing is lost or doubled.
//   - The connection breaks while a page is applied: the handler ends the
//     transaction and acknowledges; the subscriber then fails to move the
//     checkpoint and starts over. A nack would send the page again into the dead
//     transaction for ever.
//   - Shutdown: the subscription's context ends and database/sql rolls the page
//     back. Router.Close and an expired ack deadline would commit the writes
//     without the checkpoint (both reproduced with watermill-sql v3.1.0); so
//     nobody closes the router, and the deadline is ten years.
//   - Groups end while others are added, as at a stop or in a lost election: the Router
//     stays open until it is closed. One of watermill's closed itself, or panicked.
//   - Another process applied what was read ahead: the checkpoint stands elsewhere, and
//     the page is forgotten. So it is where the page before it failed.
//   - Connections run short: who reads ahead waits for one while it holds none, and no
//     transaction waits for who reads ahead.
//   - The commit fails: watermill-sql only logs it. The next query starts from
//     the old checkpoint, and whoever waits for a position reads the checkpoint
//     instead of trusting a signal.
//   - A letter is retried or dropped while a page, a comparison or another
//     operator is at its group: they take turns at the checkpoint row. Who drops
//     what was applied meanwhile gets ErrNoLetter; a snapshot older than the
//     retry or drop gets 40001, because both write the row.
//   - A wake-up is lost or comes too often: the safety poll finds the events,
//     respectively the query finds nothing.
//   - Clocks play no part.
package topic
