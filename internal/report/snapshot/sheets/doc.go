// Package sheets has the list of the summaries that print a sheet.Sheet, by the verdict of their kind. To add one,
// add its package below snapshot and its line in makers.
//
// A kind that is no summary is an error (*NoSheetError), never an empty sheet.
package sheets
