// Package nights says which backups the demo's servers have had: one each night, and one of the log every quarter of an
// hour, except in the times in which alerts say that there was none.
package nights
