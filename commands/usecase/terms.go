package usecase

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/postgres/statement"
)

// CheckName holds a name that people give to its rules; nil: it breaks none.
func CheckName(pointer, name string) *rule.Broken {
	switch n := utf8.RuneCountInString(strings.TrimSpace(name)); {
	case n < 1 || n > MaxIDRunes || strings.ContainsRune(name, 0):
		return &rule.Broken{Pointer: pointer, Code: "out_of_range", Detail: fmt.Sprintf("must be 1 to %d characters", MaxIDRunes)}
	case !printable.Name(name):
		return &rule.Broken{Pointer: pointer, Code: "invalid_name", Detail: printable.Rule}
	}
	return nil
}

// Set sets a field that a change names.
func Set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// Room refuses one more where an organization has as many as it may.
func Room(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, table, code string, most int) error {
	n, err := statement.One[int](ctx, tx, "count "+table, `SELECT count(*) FROM `+table+` WHERE organization_id = $1 AND removed_at IS NULL`, organization)
	if err == nil && n >= most {
		err = &RuleError{Code: code, Detail: fmt.Sprintf("An organization has at most %d.", most)}
	}
	return err
}
