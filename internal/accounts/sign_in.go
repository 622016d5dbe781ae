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
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// How many failures within FailureWindow an account and an address have before
// they wait, contract §14.
const (
	FailuresPerAccount = 5
	failuresPerAddress = 20
	FailureWindow      = 5 * time.Minute
)

// addressKnown is how long an address counts as one from which the member signs in.
const addressKnown = 30 * 24 * time.Hour

//go:embed sql/account.sql
var accountOf string

//go:embed sql/count_failure.sql
var countFailure string

//go:embed sql/forget_failures.sql
var forgetFailures string

// SignIn checks a password and opens a session. Unknown, invited and disabled
// accounts take the same time and get the same answer as a wrong password.
// Errors: *Refusal invalid_credentials, login_throttled.
func (s *Store) SignIn(ctx context.Context, email, password string, c Client) (token string, p Principal, err error) {
	member, err := s.authenticate(ctx, email, password, c)
	if err != nil {
		return "", Principal{}, err
	}
	return s.StartSession(ctx, member.ID, MethodPassword, c)
}

// ChangePassword sets a new password and ends the other sessions. Errors:
// *Refusal invalid_credentials, login_throttled, weak_password.
func (s *Store) ChangePassword(ctx context.Context, p Principal, current, next string, c Client) error {
	if err := CheckPassword(next, p.Member.Email, p.Member.Name, p.Organization.Name); err != nil {
		return err
	}
	if _, err := s.authenticate(ctx, p.Member.Email, current, c); err != nil {
		return err
	}
	hash, err := s.HashPassword(ctx, next, p.Member.Email, p.Member.Name, p.Organization.Name)
	if err != nil {
		return err
	}
	if err := s.replacePassword(ctx, p.Member, hash, p.ID); err != nil {
		return err
	}
	return s.RecordSecurity(ctx, c.Entry(p.Member.OrganizationID, p.Member.ID, PasswordChanged, ""))
}

// SetPassword sets a password without the old one (command line) and ends all
// sessions; ok is false where no such account exists. Errors: *Refusal weak_password.
func (s *Store) SetPassword(ctx context.Context, email, password string) (ok bool, err error) {
	member, ok, err := s.MemberByEmail(ctx, email)
	if err != nil || !ok {
		return false, err
	}
	hash, err := s.HashPassword(ctx, password, email, member.Name)
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
	return statement.Exec(ctx, s.db, "set a password", `WITH ended AS (DELETE FROM sessions WHERE member_id = $1 AND id <> $3),
		forgiven AS (DELETE FROM sign_in_failures WHERE kind = 'account' AND substring(subject FROM 1 FOR 32) = $4)
		UPDATE members SET password_hash = $2 WHERE id = $1 AND status <> 'erased'`, member.ID, hash, keep, subject("account", member.Email))
}

// account is what sign-in knows about the requested account.
type account struct {
	Member
	Hash  sql.NullString `db:"password_hash"`
	Known bool           `db:"known"` // they signed in from this address before

	subject, address []byte // under which failures are counted
}

// authenticate returns the active member whose password this is.
func (s *Store) authenticate(ctx context.Context, email, password string, c Client) (Member, error) {
	release, err := s.hashSlot(ctx)
	if err != nil {
		return Member{}, err
	}
	defer release()
	a, err := s.account(ctx, email, c)
	if err != nil {
		return Member{}, err
	}
	if err := s.throttle(ctx, a.subject, a.address); err != nil {
		// Also without an account: an answer without a hash is fast, and a different number of
		// statements would show in it.
		throttled := c.Entry(a.OrganizationID, a.ID, SignInThrottled, "")
		throttled.Once = true
		return Member{}, errors.Join(err, s.RecordSecurity(ctx, throttled))
	}
	stored, usable := a.Hash.String, a.Hash.Valid && a.Status == organization.Active
	if !usable {
		stored = nobody
	}
	matches, err := verify(stored, password)
	if err != nil {
		return Member{}, err
	}
	if matches && usable {
		return a.Member, s.forgive(ctx, a, password)
	}
	refused := c.Entry(a.OrganizationID, a.ID, SignInRefused, "")
	refused.Once = a.ID == uuid.Nil // anybody may fail under any number of names
	if err := s.refuse(ctx, a.subject, a.address, refused); err != nil {
		return Member{}, err
	}
	return Member{}, &Refusal{Code: CodeInvalidCredentials, Detail: "address and password do not match an account"}
}

// account looks up the owner of an address, which may be none. An attacker who fails under
// another's name from a thousand places must not lock them out: failures from an address at
// which they signed in lately are counted separately.
func (s *Store) account(ctx context.Context, email string, c Client) (account, error) {
	email = normalEmail(email)
	address := subject("ip", Network(c.IP))
	a, _, err := statement.Find[account](ctx, s.db, "look up an account", accountOf, email, address, s.clock().Add(-addressKnown))
	a.subject, a.address = subject("account", email), address
	if a.Known {
		a.subject = append(a.subject, a.address...)
	}
	return a, err
}

// forgive deletes the failures of a person who has now given the right password, and makes the
// hash anew if it has older parameters.
func (s *Store) forgive(ctx context.Context, a account, password string) error {
	err := statement.Exec(ctx, s.db, "forgive failed sign-ins", `DELETE FROM sign_in_failures WHERE kind = 'account' AND subject = $1`, a.subject)
	if err != nil || !outdated(a.Hash.String) {
		return err
	}
	return statement.Exec(ctx, s.db, "renew a password's hash", `UPDATE members SET password_hash = $3 WHERE id = $1 AND password_hash = $2`, a.ID, a.Hash.String, hash(password))
}

// refuse counts one more failure and writes it to the security log, and deletes some failures
// that no longer matter: anybody may fail under any number of names.
//
// Both are one transaction, so a failure waits for one flush to the disk. Separately, a known
// account cost one more than an unknown one, whose entry exists already for this hour, and the
// answer's time told them apart (docs/performance.md).
func (s *Store) refuse(ctx context.Context, account, address []byte, e SecurityEntry) error {
	now := s.clock()
	since := now.Add(-FailureWindow)
	err := transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		err := statement.Exec(ctx, tx, "count a failed sign-in", countFailure, account, address, FailuresPerAccount, failuresPerAddress, now, since)
		if err != nil {
			return err
		}
		return s.record(ctx, tx, e)
	})
	if err != nil {
		return fmt.Errorf("refuse a sign-in: %w", err)
	}
	if err := statement.Exec(ctx, s.db, "forget old failed sign-ins", forgetFailures, since, now); err != nil {
		return err
	}
	return s.forgetAddresses(ctx)
}

// throttle refuses while the account (nil: none was named) or the address has to wait.
func (s *Store) throttle(ctx context.Context, account, address []byte) error {
	if s.Unthrottled {
		return nil
	}
	until, err := statement.One[sql.NullTime](ctx, s.db, "look up failed sign-ins", `SELECT max(blocked_until) FROM sign_in_failures
		WHERE (kind, subject) IN (('account', $1), ('ip', $2))`, account, address)
	if err != nil {
		return err
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
