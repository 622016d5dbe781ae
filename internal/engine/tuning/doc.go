// Package tuning holds an engine's settings against its machine and load. It declares what a
// hint is and what it is held against. The hints themselves are in the engines' folders.
package tuning
