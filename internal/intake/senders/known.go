package senders

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// Bounds of the senders that were heard within a day.
const (
	mostOfToken        = 20
	mostOfOrganization = 1000
	remembered         = 24 * time.Hour
	// rechecked is for how long a process takes a sender that it knows without asking the database.
	rechecked = 10 * time.Minute
)

var (
	//go:embed sql/know_sender.sql
	knowSender string
	form       = regexp.MustCompile(`^[\x21-\x7e]{1,100}$`) // of X-Muster-Sender
)

// IsName says whether a text can be the name of a sender, as openapi.yaml has it.
func IsName(text string) bool { return form.MatchString(text) }

type known struct {
	organization, token uuid.UUID
	name                string
}

// Admit notes that a sender is heard. A token has at most 20 senders and an organization 1,000;
// those that were silent for a day do not count. One more is refused, and nothing is kept of it.
// Error: *usecase.RuleError (too_many_senders).
func (b *Book) Admit(ctx context.Context, from Sender) error {
	who := known{from.Organization, from.Token, from.Name}
	now := b.now()
	b.mu.Lock()
	heard, there := b.known[who]
	b.mu.Unlock()
	if there && now.Sub(heard) < rechecked && !now.Before(heard) {
		return nil
	}
	var ofToken, ofOrganization int
	err := transact.Once(ctx, b.db, nil, func(tx *sqlx.Tx) error {
		updated, err := statement.Affected(ctx, tx, "note a sender", `UPDATE known_senders SET heard_at = now()
			WHERE organization_id = $1 AND token_id = $2 AND sender = $3`, who.organization, who.token, who.name)
		if err != nil || updated > 0 {
			return err
		}
		// New senders of an organization are counted one after the other.
		if err := statement.Exec(ctx, tx, "wait for other new senders", `SELECT pg_advisory_xact_lock(hashtextextended('known_senders ' || $1::text, 0))`, who.organization); err != nil {
			return err
		}
		counted, err := statement.One[struct {
			OfToken        int `db:"of_token"`
			OfOrganization int `db:"of_organization"`
		}](ctx, tx, "count senders", `SELECT count(*) FILTER (WHERE token_id = $2) AS of_token, count(*) AS of_organization FROM known_senders
			WHERE organization_id = $1 AND heard_at > now() - make_interval(secs => $3) AND (token_id, sender) <> ($2, $4)`,
			who.organization, who.token, remembered.Seconds(), who.name)
		if err != nil {
			return err
		}
		ofToken, ofOrganization = counted.OfToken, counted.OfOrganization
		if ofToken >= mostOfToken || ofOrganization >= mostOfOrganization {
			return nil
		}
		return statement.Exec(ctx, tx, "know a sender", knowSender, who.organization, who.token, who.name, remembered.Seconds())
	})
	switch {
	case err != nil:
		return err
	case ofToken >= mostOfToken:
		return tooMany("token", mostOfToken)
	case ofOrganization >= mostOfOrganization:
		return tooMany("organization", mostOfOrganization)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[who] = now
	return nil
}

func tooMany(of string, most int) error {
	return &usecase.RuleError{
		Code: "too_many_senders", RetryAfter: time.Hour,
		Detail: fmt.Sprintf("The %s has %d senders (X-Muster-Sender) that were heard within a day, and may have no more.", of, most),
	}
}
