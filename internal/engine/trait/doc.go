// Package trait declares the value that describes an engine: its facts, in the types of the
// packages that use them. The folders beside it hold the values, and package engine lists them.
package trait
