// Package framework says of the texts that checks refer to, ISO/IEC 27001 Annex A, PCI DSS and the CIS benchmarks, which
// of their controls fail, hold, or were not looked at on the servers of a report.
//
// # What may go wrong
//
// A check refers to a control without a name: the control is printed by its number alone, and a test says so.
package framework
