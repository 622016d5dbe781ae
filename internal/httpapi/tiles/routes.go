package tiles

import (
	"log/slog"
	"time"

	"muster/internal/measurements"
	"muster/projections/fleet"
)

// TileRoutes are the operations on the dashboard's figures.
type TileRoutes struct {
	Tiles *measurements.Tiles
	Fleet *fleet.Reader
	Now   func() time.Time
	cache *tileCache
}

// New keeps the tiles that are read, in this process.
func New(tiles *measurements.Tiles, servers *fleet.Reader, now func() time.Time, log *slog.Logger) *TileRoutes {
	return &TileRoutes{Tiles: tiles, Fleet: servers, Now: now, cache: newTileCache(now, log)}
}
