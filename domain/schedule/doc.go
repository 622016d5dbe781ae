// Package schedule is the life of a schedule: which report it requests, when it is due, and the
// outcome of each due time.
//
// A Recurrence says when the schedule is due in its own time zone: every day, on a weekday, or
// on a day of the month, at a time of day. The rules of the time zone turn it into instants:
//
//   - If clocks go forward past the time of day, it is due at the first instant after the jump.
//     If the zone skips the whole day (Apia, 30 December 2011), it is due when the next day
//     begins.
//   - If clocks go back and the time of day occurs twice, it is due the first time.
//   - If the month does not have the day, the last day of the month is used.
//
// A Schedule is folded from its events. Each due time after the schedule began (its creation, or
// the last change of its recurrence) becomes one fact: Requested, Unchanged, Missed or Paused.
// Facts are recorded in order of their due times. So a due time has one fact at most, whatever a
// clock says later.
//
// Nothing here reads a clock or a time zone file: both are arguments, and the caller makes two
// writers of one schedule take turns.
//
// What may go wrong, and what then happens:
//
//   - Nothing looked at the schedule for a while: Due lists the due times that have passed
//     since. All but the latest are missed, and each is a fact of its own.
//   - The clock steps back: recorded facts stay, and the next due time is the one after the last
//     recorded. The clock steps forward: the due times in between have passed.
//   - The rules of the time zone change: due times after the last recorded one follow the new
//     rules as soon as the process has them. The change may move a due time that has already
//     passed to a later time on the same day; it does not become due again. If the last recorded
//     due time does not exist under the new rules, due times in the twelve hours after it are
//     left out.
//   - A schedule is changed or removed while a due time waits: the due time is missed, and the
//     fact gives the reason.
package schedule
