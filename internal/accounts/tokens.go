package accounts

import (
	"context"
	"crypto/rand"
	_ "embed"
	"hash/crc32"
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// Kinds of a token, and what each begins with.
const (
	APIToken    = "api"
	IngestToken = "ingest"

	apiPrefix    = "mst_pat_"
	ingestPrefix = "mst_ing_"
)

const (
	tokenRandom   = 30 // base62 characters: 178 bits
	tokenChecksum = 6
	prefixShown   = 4 // of the random part, so that its owner knows it again
	base62        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

//go:embed sql/principal_of_token.sql
var principalOfToken string

//go:embed sql/touch_token.sql
var touchToken string

//go:embed sql/tokens.sql
var listTokens string

// Token is an API or ingest token without its secret.
type Token struct {
	ID             uuid.UUID                   `db:"id"`
	Kind           string                      `db:"kind"` // api, ingest
	OrganizationID uuid.UUID                   `db:"organization_id"`
	MemberID       uuid.UUID                   `db:"member_id"` // the owner, or who minted the ingest token
	Name           string                      `db:"name"`
	Prefix         string                      `db:"prefix"`
	Scopes         arrayOf[organization.Scope] `db:"scopes"`
	InstanceIDs    arrayOf[uuid.UUID]          `db:"instance_ids"` // ingest; nil: the organization
	CreatedAt      time.Time                   `db:"created_at"`
	ExpiresAt      time.Time                   `db:"expires_at"`
	RevokedAt      *time.Time                  `db:"revoked_at"`
	LastUsedAt     *time.Time                  `db:"last_used_at"`
	LastUsedIP     string                      `db:"last_used_ip"`
}

// NewToken is a token to be minted.
type NewToken struct {
	Kind        string // api, ingest
	Name        string
	Scopes      []organization.Scope // api only
	InstanceIDs []uuid.UUID          // ingest only; nil: the organization
	ExpiresAt   time.Time            // zero: in 90 days
}

// InsertToken stores a token under its id and returns its secret, and the
// prefix by which its owner knows it again.
func (s *Store) InsertToken(ctx context.Context, tx *sqlx.Tx, t Token) (text, prefix string, err error) {
	text, prefix = mint(t.Kind)
	scopes := make([]string, 0, len(t.Scopes))
	for _, scope := range t.Scopes {
		scopes = append(scopes, string(scope))
	}
	err = statement.Exec(ctx, tx, "store a token", `INSERT INTO tokens (id, kind, organization_id, member_id, name, prefix, token_hash, scopes, instance_ids, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		t.ID, t.Kind, t.OrganizationID, t.MemberID, t.Name, prefix, digestOf(text), scopes, []uuid.UUID(t.InstanceIDs), t.CreatedAt, t.ExpiresAt)
	if err != nil {
		return "", "", err
	}
	return text, prefix, nil
}

// RevokeToken ends a token of the organization, or of one member if owner is set; ok is false
// if there is none with that id that still worked or was revoked.
func (s *Store) RevokeToken(ctx context.Context, tx *sqlx.Tx, org, owner uuid.UUID, kind string, id uuid.UUID) (ok bool, err error) {
	n, err := statement.Affected(ctx, tx, "revoke a token", `UPDATE tokens SET revoked_at = coalesce(revoked_at, $5)
		WHERE organization_id = $1 AND kind = $2 AND id = $3 AND ($4::uuid IS NULL OR member_id = $4)`, org, kind, id, orNull(owner), s.clock())
	return n > 0, err
}

// TokenPrincipal returns who a bearer token belongs to. A token whose owner, or minter, is
// not active is revoked. Errors: *Refusal unauthenticated, token_expired,
// token_revoked.
func (s *Store) TokenPrincipal(ctx context.Context, token, ip string) (Principal, error) {
	unknown := &Refusal{Code: CodeUnauthenticated, Detail: "unknown token"}
	if !wellFormed(token) {
		return Principal{}, unknown
	}
	type tokenOwner struct {
		ID           uuid.UUID                   `db:"token_id"`
		Kind         string                      `db:"kind"`
		Scopes       arrayOf[organization.Scope] `db:"scopes"` // never null
		InstanceIDs  arrayOf[uuid.UUID]          `db:"instance_ids"`
		ExpiresAt    time.Time                   `db:"expires_at"`
		RevokedAt    *time.Time                  `db:"revoked_at"`
		LastUsedAt   *time.Time                  `db:"last_used_at"`
		Member       Member                      `db:"member"`
		Organization Organization                `db:"organization"`
	}
	row, ok, err := statement.Find[tokenOwner](ctx, s.db, "look up a token", principalOfToken, digestOf(token))
	if err == nil && !ok {
		err = unknown
	}
	if err != nil {
		return Principal{}, err
	}
	now := s.clock()
	if row.RevokedAt != nil || row.Member.Status != organization.Active {
		return Principal{}, &Refusal{Code: CodeTokenRevoked, Detail: "the token was revoked"}
	}
	if !now.Before(row.ExpiresAt) {
		return Principal{}, &Refusal{Code: CodeTokenExpired, Detail: "the token expired on " + row.ExpiresAt.UTC().Format(time.DateOnly)}
	}
	if row.LastUsedAt == nil || now.Sub(*row.LastUsedAt) >= touchEvery {
		if err := s.touch(ctx, func(ctx context.Context) error { return s.touchToken(ctx, row.ID, now, ip) }); err != nil {
			return Principal{}, err
		}
	}
	p := Principal{
		Member: row.Member, Organization: row.Organization, Method: MethodToken, ID: row.ID,
		Scopes: row.Scopes, ExpiresAt: row.ExpiresAt.UTC(),
	}
	if row.Kind == IngestToken {
		p.Method, p.Member, p.InstanceIDs = MethodIngest, Member{}, row.InstanceIDs
	}
	return p, nil
}

// touchToken records the use of a token, and in the security log its first use, which may
// surprise its creator. Both are one transaction, so a first use whose answer is lost is not
// forgotten.
func (s *Store) touchToken(ctx context.Context, id uuid.UUID, now time.Time, ip string) error {
	type use struct {
		Organization uuid.UUID `db:"organization_id"`
		Member       uuid.UUID `db:"member_id"`
		Kind         string    `db:"kind"`
		First        bool      `db:"first"`
	}
	return transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		used, err := statement.One[use](ctx, tx, "touch a token", touchToken, id, now, printable(ip))
		if err != nil || !used.First {
			return err
		}
		first := SecurityEntry{OrganizationID: used.Organization, Type: TokenFirstUsed, IP: ip, Detail: id.String()}
		if used.Kind == APIToken { // an ingest token acts for nobody
			first.MemberID = used.Member
		}
		return s.record(ctx, tx, first)
	})
}

// TokenNames are the names of tokens of an organization, ended ones too.
func (s *Store) TokenNames(ctx context.Context, org uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return statement.Map[uuid.UUID, string](ctx, s.db, "look up the names of tokens",
		`SELECT id, name FROM tokens WHERE organization_id = $1 AND id = ANY ($2)`, org, statement.IDs(ids))
}

// Tokens returns the tokens of a kind, newest first: of one member, or
// (uuid.Nil) of the whole organization.
func (s *Store) Tokens(ctx context.Context, org, member uuid.UUID, kind string) ([]Token, error) {
	return statement.All[Token](ctx, s.db, "list tokens", listTokens, org, kind, orNull(member))
}

// mint makes a token: prefix, random part, checksum of the random part, as
// GitHub's tokens have it.
func mint(kind string) (text, shown string) {
	prefix := apiPrefix
	if kind == IngestToken {
		prefix = ingestPrefix
	}
	var b strings.Builder
	b.WriteString(prefix)
	for range tokenRandom {
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(base62)))) // crypto/rand does not fail since Go 1.24
		b.WriteByte(base62[n.Int64()])
	}
	text = b.String()
	return text + checksum(text[len(prefix):]), text[:len(prefix)+prefixShown]
}

func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	digits := make([]byte, tokenChecksum)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return string(digits)
}

// wellFormed spares the database whatever cannot be a token.
func wellFormed(token string) bool {
	body := len(apiPrefix) + tokenRandom
	if len(token) != body+tokenChecksum || (!strings.HasPrefix(token, apiPrefix) && !strings.HasPrefix(token, ingestPrefix)) {
		return false
	}
	return token[body:] == checksum(token[len(apiPrefix):body]) // both prefixes are of one length
}

// orNull makes uuid.Nil a null parameter.
func orNull(id uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: id, Valid: id != uuid.Nil} }
