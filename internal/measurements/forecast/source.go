package forecast

import "embed"

// Source is the program text of this package: reports state its forecasts, so the renderer's identity
// covers it.
//
//go:embed forecast.go
var Source embed.FS
