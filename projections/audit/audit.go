package audit

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Reader answers from the live generation of the audit projection.
type Reader struct{ db *sqlx.DB }

// NewReader returns a reader on db.
func NewReader(db *sqlx.DB) *Reader { return &Reader{db: db} }

// Entry is one audited fact.
type Entry struct {
	Log      string
	Position int64
	At       time.Time // recorded_at
	Type     string    // the trail's name: queued, reused, buildStarted, …
	ActorID  string    // member id or "system:<component>"
	Subject  uuid.UUID // the stream
	Data     json.RawMessage
}

// Trail returns the entries of one stream, oldest first, after the given
// position of its log, at most limit.
func (r *Reader) Trail(ctx context.Context, organization, stream uuid.UUID, after int64, limit int) ([]Entry, error) {
	panic("not yet")
}
