// Package report is the life of a report request as the specification has it:
// its states, the facts that move it, and the rules of asking for one.
//
// A Report is folded from its events (Apply) and decides what happens next: a
// decision such as Ready or Fail returns the events to append and changes
// nothing. Which event may follow which state is one table, Transitions, and a
// decision that is not in it is a *TransitionError. The rules of a request
// (Validate), its identity (Fingerprint), its label and its file's name are
// plain functions.
//
// A kind is one value (Definition): the terms of a request, the parts that a build gathers, the
// verdict, the sections, the companions, its words, and whether two reports can be compared.
// Definitions is the one list of kinds. To add a kind, add its file and its line in Definitions.
// A part, a section or a verdict that no kind had before is added to the table of handlers, pdf
// or snapshot/analysis; tests there compare the tables with the list. No room compares names of
// kinds, and a name that is not in the list is a *UnknownKindError.
//
// Nothing here reads a clock, a database or another report. Times come in as
// arguments, and the caller sees to it that two writers of one report come one
// after the other.
//
// What may go wrong, and what then happens:
//
//   - The same fact comes twice, because a message was delivered twice or a
//     worker died between its commit and its acknowledgement: the decision
//     returns no events and no error. That holds for Ready and Failed, for one
//     recipient's mail, for a step of one attempt, for expiry and erasure, and
//     for a second download by the same member within the hour.
//   - Two workers build the same report because the first one's lease ran out:
//     the first Ready or Failed stands; a different one is a *TransitionError.
//   - A job fails before any worker had started: the request goes through
//     Building on the way to Failed, so that the table has no row the
//     specification does not have.
//   - The clocks of two machines differ: expiry is judged by the time given, and
//     Expire answers with a *NotDueError until the window has elapsed, so that
//     no clock can shorten it but the judge's own.
package report
