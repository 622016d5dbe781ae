package migrations

import "embed"

// FS holds every migration, in goose's SQL format, ordered by file name.
//
//go:embed *.sql
var FS embed.FS
