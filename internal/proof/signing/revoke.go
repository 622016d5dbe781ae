package signing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/transact"
	"muster/internal/proof/attest"
)

// Revocation says since when another person may have the keys.
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

// Revoke revokes all keys that come from a secret key, one of which ID names: a person who has
// that has them all. An operator's certificate is revoked alone. A revoked key can be revoked
// from an earlier time on, never from a later one. record is called before the commit. It
// returns the keys as they are published from then on. Errors: *RevocationError.
func (s *Signing) Revoke(ctx context.Context, r Revocation, record func(revoked []attest.Key) error) (revoked []attest.Key, err error) {
	refused := func(format string, args ...any) error { return &RevocationError{r.ID, fmt.Sprintf(format, args...)} }
	h, err := s.publish(ctx)
	if err != nil {
		return nil, err
	}
	named := slices.IndexFunc(h.keys, func(k entry) bool { return k.ID == r.ID || k.Secret != "" && k.Secret == r.ID })
	if named < 0 {
		return nil, refused("the installation never published it; 'muster keys list' and 'muster keys export' have their ids")
	}
	of := h.keys[named]
	signs, err := s.signsNow(of)
	switch {
	case err != nil:
		return nil, err
	case signs && of.Secret == "":
		return nil, refused("PDFs are signed with it: start all processes with another certificate first")
	case signs:
		return nil, refused("it is the current key, and the installation signs with it: 'muster keys rotate' first")
	case of.RevokedAt != nil && !r.Since.Before(*of.RevokedAt):
		return nil, refused("it is revoked already, from %s on, and a later time would take that back", of.RevokedAt.UTC().Format(time.RFC3339))
	}
	c := change{At: &r.Since, Reason: r.Reason}
	for _, k := range h.keys {
		if k.reference() == of.reference() || of.Secret != "" && k.Secret == of.Secret {
			c.Ended = append(c.Ended, k.reference())
			k.RevokedAt, k.Reason = &r.Since, r.Reason
			revoked = append(revoked, k.Key)
		}
	}
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		if err := s.append(ctx, tx, h, keysRevoked, c); err != nil {
			return err
		}
		return record(revoked)
	})
	return revoked, err
}

// signsNow says whether a published key signs now, other than below the current key's own
// checkpoints.
func (s *Signing) signsNow(k entry) (bool, error) {
	if k.Secret != "" {
		return k.Secret == s.ring.Fingerprint(), nil
	}
	current, err := s.current()
	return slices.ContainsFunc(current, func(c published) bool { return c.fingerprint == "" && c.ID == k.ID }), err
}

// Revoked are the fingerprints of secret keys that are revoked, each with one of its keys.
func (s *Signing) Revoked(ctx context.Context) (map[string]attest.Key, error) {
	h, err := s.publish(ctx)
	if err != nil {
		return nil, err
	}
	revoked := map[string]attest.Key{}
	for _, k := range h.keys {
		if k.RevokedAt != nil {
			revoked[k.Secret] = k.Key
		}
	}
	return revoked, nil
}
