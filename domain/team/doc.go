// Package team decides about teams: which servers a team's selector matches, who belongs to the
// team, and which team owns a server.
//
// A selector is a rule over tags, and it is read where it is used: nothing stores the list of
// servers that it gives. The owner of a server is the first team, in the order of the teams,
// whose selector matches. A new team comes last, and administrators change the order. Each team has a stream of its own in the
// organization log. Its name lies in a row beside it, for a name may be changed and a log is
// kept for ever.
//
// There is no clock and no I/O here.
package team
