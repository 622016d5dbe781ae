// Package command has what all commands of muster share: exit statuses, usage errors, how
// answers are printed, and the version of the program.
//
// # What may go wrong
//
// Whoever reads the output goes away: printing fails, and Unread tells that error from others.
package command
