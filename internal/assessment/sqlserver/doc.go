// Package sqlserver assesses SQL Server from 2016 on, and Azure SQL Database.
//
// It opens read-only sessions (internal/servers) and runs the checks of the catalog with
// internal/assessment/inspection. Checks of the server run once. Checks of databases run in each
// database that is online and accepts Muster's login. Its own queries are in sql/, with the
// documentation of their columns.
//
// SQL Server returns fewer rows, and no error, to a login with fewer rights (metadata
// visibility). So the rights of the login are checked before anything is read (sql/rights.sql),
// in each database anew. A check is not assessed if one of its rights is missing, and the result
// names the grant. Nothing is inferred from the number of rows.
//
// The server itself tells what its release does not have: sys.configurations lists the options,
// and the server refuses unknown views and columns. Azure SQL Database has no server level. For
// each check, the catalog says why it does not apply there.
//
// What may go wrong: none of this has run against a live SQL Server, see README.
package sqlserver
