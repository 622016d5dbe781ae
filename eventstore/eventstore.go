package eventstore

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Log names one of the event logs. Order is promised within a log only.
type Log string

// The logs.
const (
	Reports      Log = "reports"
	Organization Log = "organization"
	Fleet        Log = "fleet"
	Keys         Log = "keys" // of the installation itself
)

// Logs lists every log in the order in which tools print them, and in which a
// transaction that appends to several must do so.
var Logs = []Log{Reports, Organization, Fleet, Keys}

// Metadata says who caused an event and in the course of what. It holds ids of
// people, never names or addresses.
type Metadata struct {
	ActorID       string `json:"actorId,omitempty"` // member id, or "system:<component>"
	RequestID     string `json:"requestId,omitempty"`
	CorrelationID string `json:"correlationId,omitempty"`
	CausationID   string `json:"causationId,omitempty"` // "<log>:<position>" of the event that led here
	TokenID       string `json:"tokenId,omitempty"`     // the ingest token of a program that changed an instance
}

// NewEvent is one event to append. Data is stored as these exact bytes.
type NewEvent struct {
	Type          string
	SchemaVersion int       // 1 where zero
	OccurredAt    time.Time // the fact's own time, kept in microseconds; the append's time where zero
	Data          []byte
}

// Expected versions with a meaning of their own.
const (
	NoStream   int64 = 0  // the stream must not exist yet
	AnyVersion int64 = -1 // append behind whatever is there
)

// Append is a batch of events for one stream. One without events is passed over.
type Append struct {
	Organization uuid.UUID
	StreamType   string
	Stream       uuid.UUID
	Expected     int64 // the version the stream must have, or NoStream, or AnyVersion
	Events       []NewEvent
	Metadata     Metadata
	Key          *KeyState // set where the stream is known under an external key
}

// KeyState is the external key of a stream and the digest of the state that the
// stream has after this append. It is written in the appending transaction.
type KeyState struct {
	Key         string
	StateDigest []byte
}

// StreamKey is what is known about a stream by its external key.
type StreamKey struct {
	Key         string    `db:"key"`
	Stream      uuid.UUID `db:"stream_id"`
	Version     int64     `db:"version"`
	StateDigest []byte    `db:"state_digest"`
}

// Event is a recorded event. Data and Metadata are the exact bytes written.
type Event struct {
	Log            Log
	Position       int64
	OrganizationID uuid.UUID
	StreamType     string
	Stream         uuid.UUID
	Version        int64
	Type           string
	SchemaVersion  int
	OccurredAt     time.Time // UTC, microseconds
	RecordedAt     time.Time // UTC, microseconds; never before that of an earlier position
	Data           []byte
	Metadata       []byte
	Digest         []byte // SHA-256 over what the writer wrote: Digest
	Hash           []byte // SHA-256 over the previous hash, Digest and RecordedAt: Link
}

// Actor is the member who caused the event; uuid.Nil: a program did.
func (e Event) Actor() uuid.UUID {
	var m Metadata
	if json.Unmarshal(e.Metadata, &m) != nil {
		return uuid.Nil
	}
	id, err := uuid.Parse(m.ActorID)
	if err != nil {
		return uuid.Nil
	}
	return id
}

// Filter narrows a reading of a log. The zero value reads everything.
type Filter struct {
	Organization uuid.UUID // uuid.Nil: all
	Stream       uuid.UUID // uuid.Nil: all
	StreamType   string
	Types        []string
	After        int64     // positions greater than this
	UpTo         int64     // positions up to and including this; 0: no end
	RecordedFrom time.Time // inclusive
	RecordedTo   time.Time // exclusive; "as of T" is RecordedTo = T
}

// Store appends to and reads from the logs.
type Store struct {
	db  *sqlx.DB
	now func() time.Time
}

// New returns a store on db, which must be a pgx stdlib database.
func New(db *sqlx.DB) *Store {
	return &Store{db: db, now: time.Now}
}

// WithClock is the store with another clock to fill in OccurredAt where the writer gave
// none. RecordedAt is the database's.
func (s *Store) WithClock(now func() time.Time) *Store {
	return &Store{db: s.db, now: now}
}
