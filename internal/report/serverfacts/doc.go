// Package serverfacts is the one list of what is known of servers beside their checks: their role in replication and
// whether they follow, the growth of their databases, their backups against their objective (RPO), when their volumes and
// tablespaces are full, and how busy their hosts were.
//
// Capping has the facts that cap a score. The history of scores and scorecards both take them from it, so their scores
// agree. Of adds what a scorecard says besides. Digests, evidence and the page of a server take backups from Backups and
// sizes from Sizes.
//
// # Time
//
// Facts are as of a time. A look at replication that is older than replication.Fresh says nothing about that time, so it
// is left out, and so is a size that is older than two days. BackupsBefore and the end of Sizes leave out what came later,
// so that a document can be made again.
//
// # Backups
//
// Backups reads the newest backup of each database (package backups), and BackupDays the minutes in which backups ended.
// A day is known if an earlier backup of every database that was there is known: a database of which no source tells
// anything makes its days unknown, and never kept. Databases that were removed since do not count. Of a removed server
// only backups of the whole server are known.
//
// # Room
//
// Sizes come from package room. A host whose volumes have too short a history there, because its samples were imported,
// has one volume: the fullest one of each hour of its utilization.
package serverfacts
