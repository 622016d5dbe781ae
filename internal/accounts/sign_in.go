package accounts

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// How many failures within failureWindow an account and an address have before
// they wait, contract §14.
const (
	failuresPerAccount = 5
	failuresPerAddress = 20
	failureWindow      = 5 * time.Minute
)

//go:embed queries/count_failure.sql
var countFailure string

//go:embed queries/forget_failures.sql
var forgetFailures string

// SignIn checks a password and opens a session. Unknown, invited and disabled
// accounts take the same time and get the same answer as a wrong password.
// Errors: *Refusal invalid_credentials, login_throttled.
func (s *Store) SignIn(ctx context.Context, email, password string, c Client) (token string, p Principal, err error) {
	member, err := s.authenticate(ctx, email, password, c)
	if err != nil {
		return "", Principal{}, err
	}
	// Sessions that ended long ago are of no use to anybody.
	if _, err := s.db.ExecContext(ctx, `DELETE FROM sessions WHERE member_id = $1 AND expires_at < $2`, member.ID, s.clock().Add(-SessionAbsolute)); err != nil {
		return "", Principal{}, fmt.Errorf("sign in: %w", err)
	}
	token, p, err = s.StartSession(ctx, member.ID, MethodPassword, c)
	if err != nil {
		return "", Principal{}, err
	}
	return token, p, s.RecordSecurity(ctx, SecurityEntry{
		OrganizationID: member.OrganizationID, MemberID: member.ID, Type: SignedIn, IP: c.IP, RequestID: c.RequestID,
	})
}

// ChangePassword sets a new password and ends the other sessions. Errors:
// *Refusal invalid_credentials, login_throttled, weak_password.
func (s *Store) ChangePassword(ctx context.Context, p Principal, current, next string, c Client) error {
	if err := CheckPassword(next, p.Member.Email); err != nil {
		return err
	}
	if _, err := s.authenticate(ctx, p.Member.Email, current, c); err != nil {
		return err
	}
	hash, err := s.HashPassword(ctx, next, p.Member.Email)
	if err != nil {
		return err
	}
	if err := s.replacePassword(ctx, p.Member, hash, p.ID); err != nil {
		return err
	}
	return s.RecordSecurity(ctx, SecurityEntry{
		OrganizationID: p.Member.OrganizationID, MemberID: p.Member.ID, Type: PasswordChanged, IP: c.IP, RequestID: c.RequestID,
	})
}

// SetPassword sets a password without the old one (command line) and ends all
// sessions; ok is false where no such account exists. Errors: *Refusal weak_password.
func (s *Store) SetPassword(ctx context.Context, email, password string) (ok bool, err error) {
	member, ok, err := s.MemberByEmail(ctx, email)
	if err != nil || !ok {
		return false, err
	}
	hash, err := s.HashPassword(ctx, password, email)
	if err != nil {
		return true, err
	}
	if err := s.replacePassword(ctx, member, hash, uuid.Nil); err != nil {
		return true, err
	}
	return true, s.RecordSecurity(ctx, SecurityEntry{OrganizationID: member.OrganizationID, MemberID: member.ID, Type: PasswordReset, Component: CommandLine})
}

// replacePassword sets the hash, ends every session but keep, and forgives the
// failures of the account, in one statement.
func (s *Store) replacePassword(ctx context.Context, member Member, hash string, keep uuid.UUID) error {
	_, err := s.db.ExecContext(ctx, `WITH ended AS (DELETE FROM sessions WHERE member_id = $1 AND id <> $3),
		forgiven AS (DELETE FROM sign_in_failures WHERE kind = 'account' AND subject = $4)
		UPDATE members SET password_hash = $2 WHERE id = $1`, member.ID, hash, keep, subject("account", member.Email))
	if err != nil {
		return fmt.Errorf("set a password: %w", err)
	}
	return nil
}

// authenticate returns the active member whose password this is.
func (s *Store) authenticate(ctx context.Context, email, password string, c Client) (Member, error) {
	email = normalEmail(email)
	account, address := subject("account", email), subject("ip", c.IP)
	release, err := s.hashSlot(ctx)
	if err != nil {
		return Member{}, err
	}
	defer release()
	if err := s.throttle(ctx, account, address); err != nil {
		return Member{}, err
	}
	var row struct {
		Member
		Hash sql.NullString `db:"password_hash"`
	}
	err = s.db.GetContext(ctx, &row, `SELECT `+memberColumns+`, password_hash FROM members WHERE email = $1`, email)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Member{}, fmt.Errorf("look up an account: %w", err)
	}
	hash, usable := row.Hash.String, row.Hash.Valid && row.Status == "active"
	if !usable {
		hash = nobody
	}
	matches, err := verify(hash, password)
	if err != nil {
		return Member{}, err
	}
	if matches && usable {
		_, err := s.db.ExecContext(ctx, `DELETE FROM sign_in_failures WHERE kind = 'account' AND subject = $1`, account)
		return row.Member, err
	}
	if err := s.countFailure(ctx, account, address); err != nil {
		return Member{}, err
	}
	err = s.RecordSecurity(ctx, SecurityEntry{
		OrganizationID: row.OrganizationID, MemberID: row.ID, Type: SignInRefused, IP: c.IP, RequestID: c.RequestID,
		Once: row.ID == uuid.Nil, // anybody may fail under any number of names
	})
	if err != nil {
		return Member{}, err
	}
	return Member{}, &Refusal{Code: CodeInvalidCredentials, Detail: "address and password do not match an account"}
}

// countFailure counts one more failure, and forgets some that no longer matter:
// anybody may fail under any number of names.
func (s *Store) countFailure(ctx context.Context, account, address []byte) error {
	now := s.clock()
	since := now.Add(-failureWindow)
	_, err := s.db.ExecContext(ctx, countFailure, account, address, failuresPerAccount, failuresPerAddress, now, since)
	if err != nil {
		return fmt.Errorf("count a failed sign-in: %w", err)
	}
	if _, err := s.db.ExecContext(ctx, forgetFailures, since, now); err != nil {
		return fmt.Errorf("forget old failed sign-ins: %w", err)
	}
	return nil
}

// throttle refuses while the account or the address has to wait.
func (s *Store) throttle(ctx context.Context, account, address []byte) error {
	if s.unthrottled {
		return nil
	}
	var until sql.NullTime
	err := s.db.GetContext(ctx, &until, `SELECT max(blocked_until) FROM sign_in_failures
		WHERE (kind, subject) IN (('account', $1), ('ip', $2))`, account, address)
	if err != nil {
		return fmt.Errorf("look up failed sign-ins: %w", err)
	}
	wait := until.Time.Sub(s.clock())
	if !until.Valid || wait <= 0 {
		return nil
	}
	wait = wait.Truncate(time.Second) + time.Second
	return &Refusal{Code: CodeLoginThrottled, Detail: fmt.Sprintf("too many failed sign-ins; try again in %s", wait), RetryAfter: wait}
}

// subject is what is kept of an account or address that failed.
func subject(kind, value string) []byte {
	d := sha256.Sum256([]byte(kind + "\x00" + value))
	return d[:]
}

func normalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }
