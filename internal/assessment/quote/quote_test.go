package quote_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"muster/internal/assessment/quote"
	"muster/internal/testing/pgtest"
)

// What quote_ident quotes on the server is quoted here, every keyword with it, and
// what is quoted here is the same name there.
func TestIdentifiersAreQuotedAsTheServerDoes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Shared(t).Superuser())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, `SELECT word, quote_ident(word) FROM (SELECT word FROM pg_get_keywords()
		UNION VALUES ('plain'), ('_x1'), ('1x'), ('Upper'), ('with space'), ('quo"te'), ('it''s'), ('a$b'), ('größe')) w(word)`)
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for rows.Next() {
		var word, want string
		if err := rows.Scan(&word, &want); err != nil {
			t.Fatal(err)
		}
		words++
		if got := quote.Identifier(word); got != want {
			t.Errorf("%q is %s, quote_ident says %s", word, got, want)
		}
	}
	if words < 400 || rows.Err() != nil {
		t.Fatalf("%d words, %v", words, rows.Err())
	}
	for _, name := range []string{" a  b ", "a\u202eb", "tab\tnew\nline", "Имя", "back\\slash\u200b", "𝔘", "quo'te\"\u0301"} {
		var identifier, literal string
		if err := conn.QueryRow(ctx, "SELECT "+quote.Literal(name)).Scan(&literal); err != nil || literal != name {
			t.Errorf("%q as a literal is %q: %v", name, literal, err)
		}
		named, err := conn.Query(ctx, "SELECT 1 AS "+quote.Identifier(name))
		if err != nil {
			t.Fatal(err)
		}
		identifier = named.FieldDescriptions()[0].Name
		named.Close()
		if identifier != name {
			t.Errorf("%q as an identifier is %q", name, identifier)
		}
	}
}
