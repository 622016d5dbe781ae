package tiles

import (
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/measurements"
	"muster/projections/fleet"
)

// TileRoutes are the operations on the dashboard's figures.
type TileRoutes struct {
	DB    *sqlx.DB // of what is kept of deadlocks beside their numbers
	Tiles *measurements.Tiles
	Fleet *fleet.Reader
	Now   func() time.Time
	cache *tileCache
}

// New keeps the tiles that are read, in this process.
func New(db *sqlx.DB, tiles *measurements.Tiles, servers *fleet.Reader, now func() time.Time, log *slog.Logger) *TileRoutes {
	return &TileRoutes{DB: db, Tiles: tiles, Fleet: servers, Now: now, cache: newTileCache(now, log)}
}
