// Package serve is the command serve: it starts the API, the projections, the workers and the
// collectors of one process, says when the process is ready, and stops all of them.
//
// Package cli says what ends the process.
package serve
