package deletion

import (
	"context"
	_ "embed" // the statements
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/files/blobs"
	"muster/internal/postgres/statement"
)

// Measurements is what keeps an organization's measurements; *pgstore.Store does.
type Measurements interface {
	// DeleteOrganization deletes all that is measured of an organization for which
	// nobody can make a series any more.
	DeleteOrganization(ctx context.Context, organization uuid.UUID) error
}

// Deletion deletes organizations.
type Deletion struct {
	DB           *sqlx.DB
	Commands     *commands.Service
	Accounts     *accounts.Store
	Measurements Measurements
	Blobs        *blobs.Store

	// Reached is called when a step is over; an error ends Delete there. Nil: nobody asks.
	Reached func(Step) error
}

// Step is a part of a deletion.
type Step string

// The steps, in their order.
const (
	Noted    Step = "noted"    // the log says it, nobody is let in, nothing can be inserted
	Awaited  Step = "awaited"  // whoever inserted something before has committed
	Measured Step = "measured" // no measurement is left
	Rows     Step = "rows"     // no row is left but of the tables that Stay names
	Files    Step = "files"    // no file of a report is left
	Finished Step = "finished"
)

// Steps are all of them.
func Steps() []Step { return []Step{Noted, Awaited, Measured, Rows, Files, Finished} }

// Delete deletes an organization, or what is left of one that was deleted before. By is
// who wants it, as the log has it. Whoever is killed amid it calls it again.
// Errors: *usecase.NotFoundError where there never was one of that id.
func (d *Deletion) Delete(ctx context.Context, organization uuid.UUID, by string) error {
	for _, step := range []struct {
		reaches Step
		do      func(context.Context, uuid.UUID) error
	}{
		{Noted, func(ctx context.Context, id uuid.UUID) error { return d.note(ctx, id, by) }},
		{Awaited, d.Accounts.AwaitWriters},
		{Measured, d.Measurements.DeleteOrganization},
		{Rows, d.deleteRows},
		{Files, d.deleteFiles},
		{Finished, d.Accounts.FinishDeletion},
	} {
		if err := step.do(ctx, organization); err != nil {
			return fmt.Errorf("delete organization %s, up to %s: %w", organization, step.reaches, err)
		}
		if d.Reached != nil {
			if err := d.Reached(step.reaches); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Deletion) note(ctx context.Context, organization uuid.UUID, by string) error {
	_, err := d.Commands.DeleteOrganization(ctx, usecase.Actor{OrganizationID: organization, Component: by})
	var unknown *usecase.NotFoundError
	if !errors.As(err, &unknown) {
		return err
	}
	before, lost := d.Accounts.WasDeleted(ctx, organization)
	switch {
	case lost != nil:
		return lost
	case before:
		return nil
	}
	return err
}

// Stays are the tables of which rows of a deleted organization stay, and why.
func Stays() map[string]string {
	return map[string]string{
		"events":        "the log is never changed; it names nobody",
		"streams":       "where a stream of the log begins",
		"report_proofs": "what proves a report that somebody has, beside its events",
		"dead_letters":  "an event that a read model could not take: it is in the log, and a rebuild needs to know",
		"security_log":  "only added to; its addresses are emptied, and ids lead to nobody",
	}
}

// first are the tables whose rows let somebody begin something new.
var first = []string{"assessment_targets", "monitor_leases", "stream_keys", "jobs", "signs", "wholes"}

//go:embed sql/tables.sql
var tablesQuery string

// tables are those with rows of organizations in the order in which rows are deleted.
func (d *Deletion) tables(ctx context.Context) ([]string, error) {
	stays := make([]string, 0, len(Stays()))
	for table := range Stays() {
		stays = append(stays, table)
	}
	return statement.All[string](ctx, d.DB, "list what has rows of organizations", tablesQuery, stays, first)
}

// portion is how many rows one transaction deletes.
const portion = 5_000

func (d *Deletion) deleteRows(ctx context.Context, organization uuid.UUID) error {
	tables, err := d.tables(ctx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		name := pgx.Identifier{table}.Sanitize()
		query := strings.ReplaceAll(`DELETE FROM {table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {table} WHERE organization_id = $1 LIMIT $2)) AND organization_id = $1`, "{table}", name)
		for more := true; more; {
			err := eventstore.Transact(ctx, d.DB, func(tx *sqlx.Tx) error {
				n, err := statement.Affected(ctx, tx, "delete an organization's rows of "+table, query, organization, portion)
				more = n > 0
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return d.Accounts.ForgetAddresses(ctx, organization)
}

func (d *Deletion) deleteFiles(ctx context.Context, organization uuid.UUID) error {
	for file, err := range d.Blobs.List(ctx, blobs.PrefixOf(organization)) {
		if err != nil {
			return err
		}
		if err := d.Blobs.Delete(ctx, file.Name); err != nil {
			return err
		}
	}
	return nil
}
