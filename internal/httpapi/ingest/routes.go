package ingest

import (
	"muster/internal/intake/agents"
	"muster/internal/intake/feed"
	"muster/internal/intake/senders"
	"muster/internal/process/telemetry"
	"muster/projections"
)

// FeedRoutes are the operations under /ingest.
type FeedRoutes struct {
	Feed    feed.Doors
	Agents  agents.Doors
	Metrics *telemetry.Metrics
	Waiter  projections.Waiter
	Senders *senders.Book
}
