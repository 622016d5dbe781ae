// Command muster is the whole service in one binary: the server, the workers and the tools of
// operators and auditors. Its commands are in internal/cli.
package main

import "muster/internal/cli"

// version and commit are set by the Makefile; a plain go build takes the commit from the stamp
// of the Go tool, where there is one.
var (
	version = "dev"
	commit  = ""
)

func main() { cli.Main(version, commit) }
