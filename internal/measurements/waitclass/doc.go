// Package waitclass declares the categories of wait events, and the form in which an engine maps
// its own names for waits to them.
package waitclass
