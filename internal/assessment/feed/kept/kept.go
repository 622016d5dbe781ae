package kept

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/assessment/feed"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// Store is the feed of an installation.
type Store struct {
	db *sqlx.DB

	mu      sync.Mutex // over what was read last, by its version
	version int64
	current *feed.Feed
}

// NewStore returns the store in a database.
func NewStore(db *sqlx.DB) *Store { return &Store{db: db} }

var _ feed.Source = (*Store)(nil)

// DigestError says that a kept version is not what was written.
type DigestError struct{ Version int64 }

func (e *DigestError) Error() string {
	return fmt.Sprintf("version %d of the feed was changed in the database: its digest does not fit", e.Version)
}

// row is a version as it is kept.
type row struct {
	Version int64  `db:"version"`
	Digest  string `db:"digest"`
	Records []byte `db:"records"`
	// Of the list of exploited CVEs; nil: that of the tables.
	Exploited       []byte  `db:"exploited"`
	ExploitedDigest *string `db:"exploited_digest"`
}

const selectCurrent = `SELECT version, digest, records, exploited, exploited_digest FROM feed_versions ORDER BY version DESC LIMIT 1`

// Current returns the feed as it is now. errors.As target: *DigestError.
func (s *Store) Current(ctx context.Context) (*feed.Feed, error) {
	type head struct {
		Version int64 `db:"version"`
	}
	found, ok, err := statement.Find[head](ctx, s.db, "find the version of the feed", `SELECT version FROM feed_versions ORDER BY version DESC LIMIT 1`)
	if err != nil {
		return nil, err
	}
	if !ok {
		return feed.Load()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.version == found.Version {
		return s.current, nil
	}
	one, version, err := read(ctx, s.db)
	if err != nil {
		return nil, err
	}
	s.current, s.version = one, version // a later one than was found, if one came between
	return one, nil
}

// read reads the current version and its number, 0 if there is none.
func read(ctx context.Context, q sqlx.QueryerContext) (*feed.Feed, int64, error) {
	embedded, err := feed.Load()
	if err != nil {
		return nil, 0, err
	}
	found, ok, err := statement.Find[row](ctx, q, "read the feed", selectCurrent)
	if err != nil || !ok {
		return embedded, 0, err
	}
	whole := found.Exploited == nil || found.ExploitedDigest != nil && digest(found.Exploited) == *found.ExploitedDigest
	if digest(found.Records) != found.Digest || !whole {
		return nil, 0, &DigestError{Version: found.Version}
	}
	var records []feed.Record
	if err := json.Unmarshal(found.Records, &records); err != nil {
		return nil, 0, fmt.Errorf("version %d of the feed: %w", found.Version, err)
	}
	var list *feed.ExploitedList
	if found.Exploited != nil {
		if err := json.Unmarshal(found.Exploited, &list); err != nil {
			return nil, 0, fmt.Errorf("list of exploited CVEs in version %d of the feed: %w", found.Version, err)
		}
	}
	one, err := made(embedded, records, list)
	return one, found.Version, err
}

// made is the feed of the tables with updates and a list of exploited CVEs.
func made(embedded *feed.Feed, records []feed.Record, list *feed.ExploitedList) (*feed.Feed, error) {
	one, err := embedded.With(records)
	if err != nil {
		return nil, err
	}
	return one.WithExploited(list)
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Update is an operator's update.
type Update struct {
	Records []feed.Record
	// Exploited is the list that replaces the known one; nil: the update is about Records.
	Exploited *feed.ExploitedList
	File      string // its digest
	SignedBy  string // the key's id and the signed comment; empty: it was not signed
	Older     bool   // what is older than what is known is taken all the same
	DryRun    bool   // nothing is written
}

// Outcome is what an update did, or would do.
type Outcome struct {
	Changes []feed.Change
	// Listed and Delisted are the CVEs that a list of exploited ones adds, and those that it no longer has.
	Listed, Delisted []string
	Problems         []feed.Problem // one, and nothing was changed
	Before           string         // digest of the feed
	After            string         // the same where nothing changes
}

// Apply changes the feed by an update, wholly or not at all.
func (s *Store) Apply(ctx context.Context, u Update, now time.Time) (o Outcome, err error) {
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		o = Outcome{}
		// Writers take turns; readers go on.
		if err := statement.Exec(ctx, tx, "take turns in updating the feed", `LOCK TABLE feed_versions IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		was, _, err := read(ctx, tx)
		if err != nil {
			return err
		}
		o.Before, o.After = was.Identity().Digest, was.Identity().Digest
		o.Changes, o.Problems = was.Plan(u.Records, now, u.Older)
		list, changed := was.ExploitedList(), len(o.Changes) > 0
		if u.Exploited != nil {
			var wrong []feed.Problem
			o.Listed, o.Delisted, wrong = was.PlanExploited(*u.Exploited, now, u.Older)
			o.Problems = append(o.Problems, wrong...)
			changed = changed || len(o.Listed)+len(o.Delisted) > 0 || !u.Exploited.Released.Equal(was.ExploitedUntil())
			brought := *u.Exploited
			brought.Forced = brought.Released.Before(was.ExploitedUntil())
			list = &brought
		}
		if len(o.Problems) > 0 || !changed {
			return nil
		}
		records := feed.Merge(was.Updates(), o.Changes)
		embedded, err := feed.Load()
		if err != nil {
			return err
		}
		becomes, err := made(embedded, records, list)
		if err != nil {
			return err
		}
		o.After = becomes.Identity().Digest
		if u.DryRun {
			return nil
		}
		text, err := feed.Encode(records)
		if err != nil {
			return err
		}
		var listed []byte
		var listDigest *string
		if list != nil {
			if listed, err = feed.EncodeExploited(*list); err != nil {
				return err
			}
			sum := digest(listed)
			listDigest = &sum
		}
		return statement.Exec(ctx, tx, "keep a version of the feed",
			`INSERT INTO feed_versions (digest, records, feed_digest, file_digest, signed_by, exploited, exploited_digest) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			digest(text), text, o.After, u.File, u.SignedBy, listed, listDigest)
	})
	return o, err
}
