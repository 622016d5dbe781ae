package quote

import "embed"

// Source is this package's text: what goes with a report is quoted by it, so that the
// renderer's identity covers it.
//
//go:embed *.go
var Source embed.FS
