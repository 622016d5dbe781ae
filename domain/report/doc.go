// Package report is the life of a report request as the specification has it: its states, the
// facts that change them, and the rules for a request.
//
// A Report is folded from its events (Apply) and decides what happens next. A decision such as
// Ready or Fail returns the events to append and changes nothing. One table, Transitions, says
// which event may follow which state. Any other decision is a *TransitionError. The rules of a
// request (Validate), its identity (Fingerprint), its label and its file name are plain
// functions.
//
// A kind is one value (Definition): the terms of a request, the parts that a build gathers, the
// verdict, the sections, the companions, its words, and whether two reports can be compared.
// Definitions is the one list of kinds. To add a kind, add its file and its line in Definitions.
// A new part, section or verdict also needs its entry in the table of handlers, pdf or
// snapshot/analysis; tests there compare the tables with the list. No package compares names of
// kinds, and a name that is not in the list is a *UnknownKindError.
//
// Nothing here reads a clock, a database or another report. Times are arguments, and the caller
// makes two writers of one report take turns.
//
// What may go wrong, and what then happens:
//
//   - The same fact comes twice, because a message was delivered twice or a worker died between
//     its commit and its acknowledgement: the decision returns no events and no error. That
//     holds for Ready and Failed, for one recipient's mail, for a step of one attempt, for
//     expiry and erasure, and for a second download by the same member within an hour.
//   - Two workers build the same report because the lease of the first ran out: the first Ready
//     or Failed stands. A different second one is a *TransitionError.
//   - A job fails before a worker has started it: the request passes through Building on the way
//     to Failed, so the table needs no row that the specification does not have.
//   - The clocks of two machines differ: expiry is judged by the time that the caller passes.
//     Expire returns a *NotDueError until the window has elapsed, so only the clock of the
//     caller can shorten it.
package report
