// Package web holds the pages: a React application that `make web` builds into
// dist/app and this package embeds.
//
// Nothing that is built is in git. dist has one file that is, so that the package
// compiles where nobody has built the application: then App says that it is not
// there, and Muster serves the API alone and says on its pages how to build it.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// App is the built application, with its index.html. The error is fs.ErrNotExist
// where it was not built.
func App() (fs.FS, error) {
	if _, err := fs.Stat(dist, "dist/app/index.html"); err != nil {
		return nil, err
	}
	return fs.Sub(dist, "dist/app")
}
