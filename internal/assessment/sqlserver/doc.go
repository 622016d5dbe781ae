// Package sqlserver assesses SQL Servers from 2016 on, and Azure SQL Database.
//
// It opens sessions that only read (internal/servers) and runs the checks of the catalogue
// by internal/assessment/inspection: those of the server once, those of databases in each
// database that is online and lets our login in. Its own queries are in sql/, with the
// documentation that their columns are from.
//
// SQL Server shows fewer rows to those who may see less, and no error: metadata visibility.
// So what a login may see is asked before anything is read (sql/rights.sql), in each
// database anew, and a check whose rights are not all there is not assessed and names the
// grant. Nothing is inferred from what rows come.
//
// What a release does not have is told by the server: options by sys.configurations, views
// and columns by its refusal. Azure SQL Database has no server to speak of; the catalogue
// says of each check why it does not apply there.
//
// What may go wrong: no live SQL Server has met any of it, see README.
package sqlserver
