// Package waitclass declares the categories of wait events, and what an engine has to say of
// its own names for waits.
package waitclass
