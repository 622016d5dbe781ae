// Package topic turns the event logs into Watermill topics: consumer groups read a log in order
// and write their results exactly once.
//
// Nothing is published. A Subscription is the schema adapter and offsets adapter of a
// watermill-sql subscriber, and reads the events table itself. A message is a page of up to a
// thousand events after the group's checkpoint. One READ COMMITTED transaction, which holds the
// checkpoint row, reads the page, writes the group's results and moves the checkpoint. So two
// processes that both believe that they read for the group take turns, and neither applies the
// other's pages again.
//
// Events are decoded before they are applied, on all processors. While a full page is applied,
// the next page is read and decoded on another connection. The next transaction then only locks
// the checkpoint and checks that it stands at the beginning of that page. A group has at most
// two pages in memory.
//
// A page is applied under one savepoint. If that fails, it is applied again with one savepoint
// for each event. An event that fails by itself parks its stream in dead_letters: later events
// of that stream wait behind it in order, and other streams go on. Retry replays a parked stream
// in order. Drop leaves out the first event of the stream. It is remembered by (handler, log,
// position), so the next generation of the same projection leaves the event out, too. Errors
// that would hit any event (connection, resources, conflicts, a schema that does not fit, a
// HeldError) park nothing: the page is tried again.
//
// After a page, a group reads the next one at once. If there is none, it waits for a
// listen.Wake, and for one second at most (SafetyPoll). The appending process raises the wake-up
// directly; other processes raise it through LISTEN/NOTIFY. A look that finds no events locks
// and writes nothing.
//
// # What may go wrong
//
//   - The process dies anywhere: its transaction is rolled back and the page comes again.
//     Nothing is lost or doubled.
//   - The connection breaks while a page is applied: the handler ends the transaction and
//     acknowledges. The subscriber then fails to move the checkpoint and starts over. A nack
//     would send the page into the dead transaction again, forever.
//   - Shutdown: the subscription's context ends and database/sql rolls the page back.
//     Router.Close and an expired ack deadline would commit the writes without the checkpoint
//     (both reproduced with watermill-sql v3.1.0). So nothing closes the router, and the
//     deadline is ten years.
//   - Groups end while others are added, as at a stop or after a lost election: the Router stays
//     open until it is closed. Watermill's own router closed itself then, or panicked.
//   - Another process applied a page that was read ahead: the checkpoint stands elsewhere, and
//     the page is discarded. It is also discarded if the page before it failed.
//   - Connections run short: the reader of the next page waits for a connection while it holds
//     none, and no transaction waits for that reader.
//   - The commit fails: watermill-sql only logs it. The next query starts from the old
//     checkpoint. A caller that waits for a position reads the checkpoint instead of trusting a
//     signal.
//   - A dead letter is retried or dropped while a page, a comparison or another operator is at
//     work on its group: they take turns at the checkpoint row. Dropping a letter that was
//     applied meanwhile returns ErrNoLetter. A snapshot older than the retry or drop gets 40001,
//     because both write the row.
//   - A wake-up is lost: the safety poll finds the events. A wake-up comes too often: the query
//     finds nothing.
//   - Clocks are not used.
package topic
