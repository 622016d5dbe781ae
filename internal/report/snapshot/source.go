package snapshot

import "embed"

// Source is the program text of this package and of packages analysis, window and companion:
// what a report says is a function of it, so the renderer's identity covers it.
//
//go:embed *.go analysis/*.go analysis/window/*.go companion/*.go
var Source embed.FS
