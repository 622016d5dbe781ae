// Package schedule is the life of a schedule: which report it requests, when it is due,
// and the outcome of each due time.
//
// A Recurrence says when, in the words of its own zone: every day, a weekday, or a day
// of the month, at a time of day. Due times are instants, computed with the rules of the
// zone that they are given:
//
//   - A time of day that a day does not have, because clocks go forward, is due at the
//     first instant after it. A day that the zone leaves out (Apia, 30 December 2011) is
//     due when the next one begins.
//   - A time of day that a day has twice, because clocks go back, is due the first time.
//   - A day that a month does not have is its last day.
//
// A Schedule is folded from its events. Each due time after the schedule began (its
// creation, or the last change of when it is due) becomes one fact: Requested, Unchanged,
// Missed or Paused. They are recorded in order, so that a due time that has one never gets
// another, whatever any clock says later.
//
// Nothing here reads a clock or a zone's file: both come in as arguments, and the caller
// sees to it that two writers of one schedule come one after the other.
//
// What may go wrong, and what then happens:
//
//   - Nobody looked for a while: Due lists what has come due since. All but the latest are
//     missed, each a fact of its own.
//   - The clock steps back: what is recorded stays, and the next due time is the one after
//     the last recorded. It steps forward: what lies between has come due.
//   - The zone's rules change: the due times after the last recorded one follow the new
//     rules from the moment at which they are there. Where the change moves a time of day
//     that has been due already behind now, that day has no second: after a due time that
//     is none by the new rules, those of the next twelve hours are left out.
//   - A due time waits while its schedule is changed or removed: it is missed, and the
//     reason says so.
package schedule
