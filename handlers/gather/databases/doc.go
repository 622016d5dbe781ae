// Package databases joins what is known of the databases of a server, for the inputs of a report.
package databases
