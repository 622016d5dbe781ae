package signing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/attest"
	"muster/internal/postgres/transact"
	"muster/internal/statement"
)

// Revocation says of keys since when somebody else may have them.
type Revocation struct {
	ID     string // of a published key, or the fingerprint of a secret key
	Since  time.Time
	Reason string // may be empty
}

// RevocationError says why a key is not revoked.
type RevocationError struct {
	ID, Reason string
}

func (e *RevocationError) Error() string {
	return fmt.Sprintf("key %s is not revoked: %s", e.ID, e.Reason)
}

// Revoke revokes all keys that come from a secret key, of which ID names one: whoever has
// that has them all. An operator's certificate goes alone. What was revoked before can be
// revoked from an earlier time on, never from a later one. record is called before the
// commit. It returns the keys as they are published from then on. Errors: *RevocationError.
func (s *Signing) Revoke(ctx context.Context, r Revocation, record func(revoked []attest.Key) error) (revoked []attest.Key, err error) {
	refused := func(format string, args ...any) error { return &RevocationError{r.ID, fmt.Sprintf(format, args...)} }
	if err := s.Publish(ctx); err != nil {
		return nil, err
	}
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		all, err := statement.All[row](ctx, tx, "read the published keys", selectPublished)
		if err != nil {
			return err
		}
		named := slices.IndexFunc(all, func(k row) bool { return k.ID == r.ID || k.Fingerprint != "" && k.Fingerprint == r.ID })
		if named < 0 {
			return refused("the installation never published it; 'muster keys list' and 'muster keys export' have their ids")
		}
		of := all[named]
		alike := func(k row) bool {
			return k.Use == of.Use && k.ID == of.ID || of.Fingerprint != "" && k.Fingerprint == of.Fingerprint
		}
		signs, err := s.signsNow(of)
		switch {
		case err != nil:
			return err
		case signs && of.Fingerprint == "":
			return refused("PDFs are signed with it: start all processes with another certificate first")
		case signs:
			return refused("it is the current key, and the installation signs with it: 'muster keys rotate' first")
		case of.RevokedAt != nil && !r.Since.Before(*of.RevokedAt):
			return refused("it is revoked already, from %s on, and a later time would take that back", of.RevokedAt.UTC().Format(time.RFC3339))
		}
		for _, k := range all {
			if !alike(k) {
				continue
			}
			k.RevokedAt, k.Reason = &r.Since, r.Reason
			revoked = append(revoked, k.key())
			err := statement.Exec(ctx, tx, "revoke a published key", `UPDATE published_keys SET revoked_at = $3, reason = nullif($4, '') WHERE use = $1 AND id = $2`,
				k.Use, k.ID, r.Since, r.Reason)
			if err != nil {
				return err
			}
		}
		return record(revoked)
	})
	return revoked, err
}

// signsNow says whether a published key is one that signs, other than below the current
// key's own checkpoints.
func (s *Signing) signsNow(k row) (bool, error) {
	if k.Fingerprint != "" {
		return k.Fingerprint == s.ring.Fingerprint(), nil
	}
	current, err := s.current()
	return slices.ContainsFunc(current, func(c published) bool { return c.fingerprint == "" && c.ID == k.ID }), err
}

// Revoked are the fingerprints of secret keys that are revoked, each with one of its keys.
func (s *Signing) Revoked(ctx context.Context) (map[string]attest.Key, error) {
	all, err := statement.All[row](ctx, s.db, "read the published keys", selectPublished)
	if err != nil {
		return nil, err
	}
	revoked := map[string]attest.Key{}
	for _, k := range all {
		if k.RevokedAt != nil {
			revoked[k.Fingerprint] = k.key()
		}
	}
	return revoked, nil
}
