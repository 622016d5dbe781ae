package assessment

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// RetiredKeyError says that a connection was sealed under a key that is not in
// use any more: this process has an old copy of the key file.
type RetiredKeyError struct{ Fingerprint string }

func (e *RetiredKeyError) Error() string {
	return fmt.Sprintf("the connection was sealed under key %s, which is retired: copy the installation's key file here "+
		"(docs/runbooks/rotate-keys.md)", e.Fingerprint)
}

// sealedTarget is how one instance is reached, sealed.
type sealedTarget struct {
	Organization uuid.UUID `db:"organization_id"`
	Instance     uuid.UUID `db:"instance_id"`
	Sealed       []byte    `db:"sealed_dsn"`
}

func sealedTargets(ctx context.Context, q sqlx.QueryerContext) ([]sealedTarget, error) {
	return statement.All[sealedTarget](ctx, q, "read the sealed connections", `SELECT organization_id, instance_id, sealed_dsn FROM assessment_targets`)
}

// Sealed counts the connections of the whole installation by the fingerprint of
// the key they are sealed under.
func (s *Store) Sealed(ctx context.Context, q sqlx.QueryerContext) (map[string]int, error) {
	targets, err := sealedTargets(ctx, q)
	if err != nil {
		return nil, err
	}
	count := make(map[string]int)
	for _, t := range targets {
		count[s.seal.SealedUnder(t.Sealed)]++
	}
	return count, nil
}

// Reseal seals every connection of the whole installation again that is not sealed under the
// current key, and returns their number. Until tx ends, no other connection can be saved; a
// caller that waits for that with a key that tx retires is refused afterwards.
func (s *Store) Reseal(ctx context.Context, tx *sqlx.Tx) (int, error) {
	if err := statement.Exec(ctx, tx, "wait for the connections", `LOCK TABLE assessment_targets IN SHARE ROW EXCLUSIVE MODE`); err != nil {
		return 0, err
	}
	targets, err := sealedTargets(ctx, tx)
	if err != nil {
		return 0, err
	}
	resealed := 0
	for _, t := range targets {
		did, err := s.reseal(ctx, tx, t)
		if err != nil {
			return 0, fmt.Errorf("seal the connection of instance %s again: %w", t.Instance, err)
		}
		if did {
			resealed++
		}
	}
	return resealed, nil
}

func (s *Store) reseal(ctx context.Context, tx *sqlx.Tx, t sealedTarget) (bool, error) {
	bound := sealContext(t.Organization, t.Instance)
	dsn, err := s.seal.Open(t.Sealed, bound)
	if err != nil {
		return false, err
	}
	sealed, err := s.seal.Seal(dsn, bound)
	if err != nil {
		return false, err
	}
	if s.seal.SealedUnder(sealed) == s.seal.SealedUnder(t.Sealed) {
		return false, nil
	}
	_, err = tx.ExecContext(ctx, `UPDATE assessment_targets SET sealed_dsn = $3 WHERE organization_id = $1 AND instance_id = $2`,
		t.Organization, t.Instance, sealed)
	return err == nil, err
}
