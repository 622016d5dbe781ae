package signing

import (
	"context"
	_ "embed"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/attest"
	"muster/internal/statement"
)

var (
	//go:embed sql/publish.sql
	publishKey string
	//go:embed sql/published.sql
	selectPublished string
	//go:embed sql/retire_own.sql
	retireOwn string
)

// row is one of published_keys.
type row struct {
	ID          string     `db:"id"`
	Use         string     `db:"use"`
	Algorithm   string     `db:"algorithm"`
	PublicKey   []byte     `db:"public_key"`
	VerifierKey string     `db:"verifier_key"`
	Certificate string     `db:"certificate"`
	ValidFrom   time.Time  `db:"valid_from"`
	ValidTo     *time.Time `db:"valid_to"`
	RevokedAt   *time.Time `db:"revoked_at"`
	Reason      string     `db:"reason"`
	Fingerprint string     `db:"fingerprint"` // of the secret key that it comes from; empty: the operator's
}

func (r row) key() attest.Key {
	k := attest.Key{
		ID: r.ID, Use: attest.Use(r.Use), Algorithm: r.Algorithm, PublicKey: r.PublicKey,
		VerifierKey: r.VerifierKey, Certificate: r.Certificate, ValidFrom: r.ValidFrom.UTC(),
	}
	if r.ValidTo != nil {
		to := r.ValidTo.UTC()
		k.ValidTo = &to
	}
	r.revokes(&k)
	return k
}

// revokes says of a key since when somebody else may have it.
func (r row) revokes(k *attest.Key) {
	if r.RevokedAt != nil {
		at := r.RevokedAt.UTC()
		k.RevokedAt, k.Reason = &at, r.Reason
	}
}

// Publish keeps the public halves of the keys that may sign now. Processes may do so at
// once, and again.
func (s *Signing) Publish(ctx context.Context) error {
	current, err := s.current()
	if err != nil {
		return err
	}
	return s.publish(ctx, current)
}

func (s *Signing) publish(ctx context.Context, keys []published) error {
	for _, k := range keys {
		err := statement.Exec(ctx, s.db, "publish a key", publishKey,
			k.ID, string(k.Use), k.Algorithm, k.PublicKey, k.VerifierKey, k.Certificate, k.fingerprint)
		if err != nil {
			return err
		}
		if k.fingerprint == "" { // the operator has one at a time
			if err := statement.Exec(ctx, s.db, "retire the operator's certificate of before", retireOwn, k.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// Keys is the document of keys, the current ones first: those that may sign now as they
// are, and those that have gone as they were published.
func (s *Signing) Keys(ctx context.Context) (attest.Keys, error) {
	current, err := s.current()
	if err != nil {
		return attest.Keys{}, err
	}
	kept, err := statement.All[row](ctx, s.db, "read the published keys", selectPublished)
	if err != nil {
		return attest.Keys{}, err
	}
	at := func(k published) int {
		return slices.IndexFunc(kept, func(r row) bool { return r.ID == k.ID && r.Use == string(k.Use) })
	}
	if slices.ContainsFunc(current, func(k published) bool { return at(k) < 0 }) { // rotated since the start
		if err := s.publish(ctx, current); err != nil {
			return attest.Keys{}, err
		}
		if kept, err = statement.All[row](ctx, s.db, "read the published keys", selectPublished); err != nil {
			return attest.Keys{}, err
		}
	}
	var document attest.Keys
	for _, k := range current {
		if i := at(k); i >= 0 {
			k.ValidFrom = kept[i].ValidFrom.UTC()
			kept[i].revokes(&k.Key)
			kept = slices.Delete(kept, i, i+1)
		}
		document.Keys = append(document.Keys, k.Key)
	}
	for _, r := range kept {
		document.Keys = append(document.Keys, r.key())
	}
	return document, nil
}

// Retire says of the keys that come from secret keys which have gone until when they
// signed, in the transaction that takes them away.
func Retire(ctx context.Context, tx *sqlx.Tx, current string) error {
	return statement.Exec(ctx, tx, "retire the published keys",
		`UPDATE published_keys SET valid_to = now() WHERE fingerprint <> $1 AND valid_to IS NULL`, current)
}
