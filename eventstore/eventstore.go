package eventstore

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Log names one of the three event logs. Order is promised within a log only.
type Log string

// The three logs. Each has its own head row, gapless positions from 1, hash
// chain and Watermill topic.
const (
	Reports      Log = "reports"
	Organization Log = "organization"
	Fleet        Log = "fleet"
)

// Logs lists every log in the order in which tools print them.
var Logs = []Log{Reports, Organization, Fleet}

// Metadata says who caused an event and in the course of what. It holds ids of
// people, never names or addresses.
type Metadata struct {
	ActorID       string `json:"actorId,omitempty"` // member id, or "system:<component>"
	RequestID     string `json:"requestId,omitempty"`
	CorrelationID string `json:"correlationId,omitempty"`
	CausationID   string `json:"causationId,omitempty"` // "<log>:<position>" of the event that led here
}

// NewEvent is one event to append. Data is stored as these exact bytes.
type NewEvent struct {
	Type          string
	SchemaVersion int       // 1 where zero
	OccurredAt    time.Time // the fact's own time; the append's time where zero
	Data          []byte
}

// Expected versions with a meaning of their own.
const (
	NoStream   int64 = 0  // the stream must not exist yet
	AnyVersion int64 = -1 // append behind whatever is there
)

// Append is a batch of events for one stream.
type Append struct {
	Organization uuid.UUID
	StreamType   string
	Stream       uuid.UUID
	Expected     int64 // the version the stream must have, or NoStream, or AnyVersion
	Events       []NewEvent
	Metadata     Metadata
	Key          *Key // set where the stream is known under an external key
}

// Key is the external key of a stream and the digest of the state that the
// stream has after this append. It is written in the appending transaction.
type Key struct {
	Key         string
	StateDigest []byte
}

// StreamKey is what is known about a stream by its external key.
type StreamKey struct {
	Key         string
	Stream      uuid.UUID
	Version     int64
	StateDigest []byte
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
	OccurredAt     time.Time
	RecordedAt     time.Time
	Data           []byte
	Metadata       []byte
	Digest         []byte // SHA-256 over envelope, data and metadata
	Hash           []byte // SHA-256 over the previous hash and Digest
}

// Head is the last position of a log with its hash: the witness.
type Head struct {
	Log      Log    `json:"log"`
	Position int64  `json:"position"`
	Hash     []byte `json:"hash"`
}

// ConflictError reports that a stream was not at the version its writer expected.
type ConflictError struct {
	Stream   uuid.UUID
	Expected int64
	Actual   int64
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("stream %s is at version %d, not %d", e.Stream, e.Actual, e.Expected)
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
	db *sqlx.DB
}

// New returns a store on db, which must be a pgx stdlib database.
func New(db *sqlx.DB) *Store { return &Store{db: db} }

// Append writes all batches in one transaction of its own and returns the log's
// new head position. On a version that does not fit it returns a *ConflictError and writes
// nothing.
func (s *Store) Append(ctx context.Context, log Log, batches ...Append) (int64, error) {
	panic("not yet")
}

// AppendTx is Append inside the caller's transaction, which must do it last:
// from here to the commit the log's head row is locked.
func (s *Store) AppendTx(ctx context.Context, tx *sqlx.Tx, log Log, batches ...Append) (int64, error) {
	panic("not yet")
}

// LockKeys locks and returns the known ones of keys, in sorted order, so that
// two writers with overlapping batches wait instead of deadlocking. Unknown
// keys are reserved for the transaction too: two writers that both meet a key
// for the first time do so one after the other.
func (s *Store) LockKeys(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, streamType string, keys []string) (map[string]StreamKey, error) {
	panic("not yet")
}

// Load reads the events of one stream in order of version. A stream of another
// organization reads as empty.
func (s *Store) Load(ctx context.Context, q sqlx.ExtContext, organization, stream uuid.UUID) iter.Seq2[Event, error] {
	panic("not yet")
}

// Read iterates over a log in order of position, in pages, with upcasters applied.
func (s *Store) Read(ctx context.Context, log Log, f Filter) iter.Seq2[Event, error] {
	panic("not yet")
}

// Head returns the last position and hash of a log; position 0 and 32 zero bytes where it is empty.
func (s *Store) Head(ctx context.Context, q sqlx.ExtContext, log Log) (Head, error) {
	panic("not yet")
}
