// Package team decides about teams: which servers a team's selector matches, who belongs to the
// team, and which team owns a server.
//
// A selector is a rule over tags, and it is read where it is used: nothing stores the list of
// servers that it gives. The owner of a server is the first team, in the order of the teams,
// whose selector matches. A new team comes last, and administrators change the order. Each team has a stream of its own in the
// organization log. Its name lies in a row beside it, because names change and the log is kept
// forever.
//
// There is no clock and no I/O here.
//
// # What may go wrong
//
//   - A server changes its team, by a tag or a selector: from the next request on, its open findings,
//     alerts, exceptions, reports and schedules, with their past, are seen by the members of the new
//     team and no longer by those of the old one. Nothing is copied: what is about a server belongs to
//     whoever owns the server now. A report that is queued keeps the servers that it was requested for.
//     internal/notify says who gets a notification that is under way.
//   - A schedule stays its owner's. If none of its servers is left that the owner may act on, its
//     reports are refused.
//   - Somebody leaves a team: they and their tokens see what their other teams select, else nothing.
//   - A team is deleted: rules that match it match nothing, and schedules leave it out. Schedules of
//     deleted teams alone, with a report per team, request nothing and say why.
package team
