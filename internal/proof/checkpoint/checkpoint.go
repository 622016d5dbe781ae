package checkpoint

import (
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/internal/proof/attest"
)

var (
	//go:embed sql/latest.sql
	selectLatest string
	//go:embed sql/keep.sql
	keepCheckpoint string
)

// Checkpoint is the signed root of a log's tree.
type Checkpoint struct {
	Log       eventstore.Log
	Size      int64
	Root      tlog.Hash
	Note      string // with all signatures and cosignatures
	MadeAt    time.Time
	Timestamp []byte // RFC 3161 token, DER; nil: none
}

// Keys signs and checks the checkpoints of an installation.
type Keys interface {
	Origin(log eventstore.Log) string
	LogSigners(log eventstore.Log) ([]note.Signer, error) // the current key's first
	Verifiers(log eventstore.Log) (note.Verifiers, error)
}

// row is one of log_checkpoints.
type row struct {
	Size      int64     `db:"size"`
	Root      []byte    `db:"root"`
	Note      string    `db:"note"`
	MadeAt    time.Time `db:"made_at"`
	Timestamp []byte    `db:"timestamp_token"`
	Age       float64   `db:"age"` // seconds, by the database's clock
}

func latest(ctx context.Context, q sqlx.QueryerContext, log eventstore.Log) (row, bool, error) {
	return statement.Find[row](ctx, q, "read the last checkpoint", selectLatest, string(log))
}

// AlteredError reports a kept checkpoint that is not what was kept.
type AlteredError struct {
	Log    eventstore.Log
	Size   int64 // of the row
	Reason string
}

func (e *AlteredError) Error() string {
	return fmt.Sprintf("the checkpoint that is kept of log %s at %d events was changed: %s", e.Log, e.Size, e.Reason)
}

// read holds a row against its note, and says which keys of the ring have signed it.
// Errors: *AlteredError.
func (m *Maker) read(log eventstore.Log, r row) (Checkpoint, []note.Signature, error) {
	altered := func(reason string) error { return &AlteredError{Log: log, Size: r.Size, Reason: reason} }
	tree, err := attest.ParseCheckpoint(r.Note)
	switch {
	case err != nil:
		return Checkpoint{}, nil, altered(err.Error())
	case tree.Origin != m.keys.Origin(log):
		return Checkpoint{}, nil, altered("it is one of " + tree.Origin)
	case tree.Size != r.Size || string(tree.Root[:]) != string(r.Root):
		return Checkpoint{}, nil, altered(fmt.Sprintf("its note is over %d events with the root %v", tree.Size, tree.Root))
	}
	known, err := m.keys.Verifiers(log)
	if err != nil {
		return Checkpoint{}, nil, err
	}
	c := Checkpoint{Log: log, Size: r.Size, Root: tree.Root, Note: r.Note, MadeAt: r.MadeAt.UTC(), Timestamp: r.Timestamp}
	opened, err := note.Open([]byte(r.Note), known)
	if _, unsigned := err.(*note.UnverifiedNoteError); unsigned { //nolint:errorlint // Open's own, not wrapped
		return c, nil, nil // by a key that has gone
	}
	if err != nil {
		return Checkpoint{}, nil, altered(err.Error())
	}
	return c, opened.Sigs, nil
}

// text is what is signed.
func text(origin string, size int64, root tlog.Hash) string {
	return fmt.Sprintf("%s\n%d\n%s\n", origin, size, base64.StdEncoding.EncodeToString(root[:]))
}

// KeepTimestamp keeps the RFC 3161 token of a checkpoint's text. The first one stays.
func (m *Maker) KeepTimestamp(ctx context.Context, log eventstore.Log, size int64, token []byte) error {
	return statement.Exec(ctx, m.db, "keep the time stamp of a checkpoint",
		`UPDATE log_checkpoints SET timestamp_token = $3 WHERE log = $1 AND size = $2 AND timestamp_token IS NULL`, string(log), size, token)
}
