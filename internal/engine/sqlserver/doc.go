// Package sqlserver is the engine SQL Server.
package sqlserver
