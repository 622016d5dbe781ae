// Package rule has the one form of a broken rule: what is wrong with a request, and where in its
// body. Reports, schedules, channels and every other use case return it, and the API shows it as
// an entry of errors.
package rule
