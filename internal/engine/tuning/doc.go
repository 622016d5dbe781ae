// Package tuning compares an engine's settings with its machine and load. It declares the form
// of a hint and its inputs. The hints themselves are in the engines' folders.
package tuning
