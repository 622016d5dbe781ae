// Package assessment keeps how servers are reached and what was last seen there.
package assessment
