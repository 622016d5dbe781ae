// Package mark decides about the marks that people and programs set on the time axis of charts:
// what happened at a time, and at which servers. A deployment is one.
//
// A mark without tags is about the whole organization: whoever sees one of its servers sees the
// mark. A mark with tags is about the servers that have all of them now. Whoever sees one of those
// servers sees the mark.
//
// Members and administrators set and remove marks. A person with the role team sets only marks
// whose tags lie within the selector of a team in which they act (Within): for each key of the
// selector, the mark has one of its values. Every server with the tags is then one of the team's,
// also a server that gets them later, and the answer depends on no other server. Such a person
// cannot set a mark without tags, and a team that names its servers by id gives no such right. They
// remove the marks that they could set.
//
// The text lies in a row beside the log, because it is free text: the log is kept forever, and marks
// are kept for 400 days. The row of a removed mark stays without its text until then, because it
// counts against the number of marks of a day.
//
// There is no clock and no I/O here.
package mark
