// Truth prints the truth table (package truth), or writes it into its page.
//
//	truth          prints it
//	truth PAGE     writes it into the page, between its marks
package main
