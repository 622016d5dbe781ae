// Package backupdays says how old the backups of servers became on each day, against the recovery point objective (RPO)
// that they have now.
//
// It reads the minutes in which backups ended (package backups). A day is known if an earlier backup of every database
// that was there is known: a database of which no source tells anything makes its days unknown, and never kept. Databases
// that were removed since do not count. Of a removed server only backups of the whole server are known.
package backupdays
