package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/intake"
	"muster/internal/report/snapshot"
)

// AssessmentItem is what another tool found on an instance at a time, as openapi.yaml
// has it. A list that is nil was not sent.
type AssessmentItem struct {
	Instance         string
	At               time.Time
	Version, Edition *string
	Checks           []CheckItem
	Accounts         []AccountItem
	Settings         []SettingItem
	Databases        []DatabaseItem
}

// CheckItem is what became of one check.
type CheckItem struct {
	ID, Outcome      string
	Measured, Reason *string
	Objects          []ObjectItem
	NotAssessedIn    []UnassessedItem
	MeasuredIn       []MeasuredItem
}

// MeasuredItem is what it measured in a database.
type MeasuredItem struct {
	Database     string
	FailFraction *json.Number
	Measured     *string
}

// UnassessedItem is a database that it could not look at.
type UnassessedItem struct{ Database, Reason string }

// ObjectItem is one object that breaks it.
type ObjectItem struct {
	Database *string
	Evidence *string
	Object   string
	Severity string // empty: the check's own
}

// AccountItem is an account.
type AccountItem struct {
	CanLogin     bool
	ExpiresAt    *time.Time
	LastSignInAt *time.Time
	MemberOf     *[]string
	Name         string
	Privileges   *[]string
	Superuser    bool
}

// SettingItem is a setting.
type SettingItem struct {
	Name  string
	Unit  *string
	Value *string
}

// DatabaseItem is what is known of a database.
type DatabaseItem struct {
	Database        string
	SizeBytes       *json.Number
	EncryptedAtRest *bool
	Classification  *ClassificationItem
}

// ClassificationItem is where personal data lies in it.
type ClassificationItem struct {
	CompletedAt time.Time
	Method      string
	Tables      []TableItem
	Coverage    *CoverageItem // nil: the tables count as all
	NotRead     []NotReadItem
}

// CoverageItem is how much of a database was looked at.
type CoverageItem struct{ Tables, TablesRead, Columns, ColumnsRead json.Number }

// NotReadItem is a table, or columns of one, whose content could not be read.
type NotReadItem struct {
	Schema, Table string
	Columns       []string // none: the whole table
	Reason        string
}

// TableItem is a table that was looked at.
type TableItem struct {
	Schema, Table string
	Rows          *json.Number
	Encrypted     *bool
	Readers       []string // nil: not sent
	Columns       []ColumnItem
}

// ColumnItem is a column with personal data.
type ColumnItem struct {
	Category   string
	Column     string
	Confidence json.Number
}

// Assessments keeps what was sent; *assessment.Store does.
type Assessments interface {
	// Collected are those of the instances that have a connection registered.
	Collected(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]bool, error)
	// RefuseCollected is an *assessment.CollectedError where there are any.
	RefuseCollected(ctx context.Context, tx sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) error
	RecordSent(ctx context.Context, organization uuid.UUID, all []assessment.Sent, tell func(*sqlx.Tx, []fleet.Assessed) error) error
	ForgetFed(ctx context.Context, organization, instance uuid.UUID) error
}

// Accepted returns the exceptions in force for an instance: findings that they cover do not
// count in its score.
type Accepted func(ctx context.Context, organization, instance uuid.UUID) ([]snapshot.Exception, error)

// TakeAssessments records another tool's results for instances: nothing is written before every
// item was checked against every rule. buffered says that they waited in the sender's buffer.
// Errors: *usecase.RuleError, *intake.LaggingError.
func (d *Doors) TakeAssessments(ctx context.Context, from intake.Caller, buffered bool, items []AssessmentItem) (receipt intake.Receipt, err error) {
	in, err := d.placesOf(ctx, from.OrganizationID, items)
	if err != nil {
		return receipt, err
	}
	if err := in.keepToLimit(from.Limit); err != nil {
		return receipt, err
	}
	collected, err := d.Assessments.Collected(ctx, from.OrganizationID, in.known())
	if err != nil {
		return receipt, err
	}
	if err := in.refuse(collected); err != nil {
		return receipt, err
	}
	if in.engines, err = d.Places.Engines(ctx, from.OrganizationID, in.known()); err != nil {
		return receipt, err
	}
	if in.names, err = d.Places.DatabaseNames(ctx, from.OrganizationID, in.databases()); err != nil {
		return receipt, err
	}
	sent, counted, err := readAssessments(items, in, d.Now())
	if err != nil {
		return receipt, err
	}
	for i := range sent {
		sent[i].Buffered = buffered
	}
	if err := d.addAccepted(ctx, from.OrganizationID, sent); err != nil {
		return receipt, err
	}
	var spent usecase.Spent
	err = d.Assessments.RecordSent(ctx, from.OrganizationID, sent, func(tx *sqlx.Tx, told []fleet.Assessed) (err error) {
		spent.GiveBack()    // by the attempt before
		if len(told) == 0 { // all of it was known
			return nil
		}
		if spent, err = d.Commands.SpendEvents(ctx, from, len(told)); err != nil {
			return err
		}
		mark, err := d.Commands.RecordAssessmentTx(ctx, tx, intake.Machine(from), told...)
		receipt.Mark = mark
		return err
	})
	if err != nil {
		spent.GiveBack()
	}
	if gone := (*assessment.CollectedError)(nil); errors.As(err, &gone) { // registered meanwhile
		for _, id := range gone.Instances {
			collected[id] = true
		}
		return intake.Receipt{}, in.refuse(collected)
	}
	if err != nil {
		return intake.Receipt{}, err
	}
	receipt.Record(intake.Assessment, len(items))
	receipt.Record(intake.Finding, counted.findings)
	receipt.Record(intake.ClassifiedColumn, counted.columns)
	return receipt, nil
}

// assessed is where the assessments of a call are.
type assessed struct {
	items   []AssessmentItem
	places  []uuid.UUID                        // by assessment; uuid.Nil: no such instance
	on      map[uuid.UUID]map[string]uuid.UUID // databases by instance and external id
	engines map[uuid.UUID]fleet.Engine
	names   map[uuid.UUID]string // of databases
}

// placesOf looks up what the items name, all at once.
func (d *Doors) placesOf(ctx context.Context, organization uuid.UUID, items []AssessmentItem) (*assessed, error) {
	names := make([]inventory.PlaceName, len(items))
	type pair struct{ instance, database string }
	var pairs []pair
	seen := map[pair]bool{}
	for i := range items {
		a := &items[i]
		names[i].Instance = &a.Instance
		for _, database := range a.databases() {
			if p := (pair{a.Instance, database}); !seen[p] {
				seen[p] = true
				pairs = append(pairs, p)
			}
		}
	}
	for i := range pairs {
		names = append(names, inventory.PlaceName{Instance: &pairs[i].instance, Database: &pairs[i].database})
	}
	places, err := d.Places.FindPlaces(ctx, organization, names)
	if err != nil {
		return nil, err
	}
	in := &assessed{items: items, on: map[uuid.UUID]map[string]uuid.UUID{}}
	for i, place := range places {
		if i < len(items) {
			in.places = append(in.places, place.Instance)
			continue
		}
		if in.on[place.Instance] == nil {
			in.on[place.Instance] = map[string]uuid.UUID{}
		}
		in.on[place.Instance][pairs[i-len(items)].database] = place.Database
	}
	return in, nil
}

// databases are those that an assessment names, some more than once.
func (a AssessmentItem) databases() (names []string) {
	for _, c := range a.Checks {
		for _, o := range c.Objects {
			if o.Database != nil {
				names = append(names, *o.Database)
			}
		}
		for _, u := range c.NotAssessedIn {
			names = append(names, u.Database)
		}
		for _, m := range c.MeasuredIn {
			names = append(names, m.Database)
		}
	}
	for _, db := range a.Databases {
		names = append(names, db.Database)
	}
	return names
}

// known are the instances that there are, each once.
func (in *assessed) known() (ids []uuid.UUID) {
	seen := map[uuid.UUID]bool{uuid.Nil: true}
	for _, id := range in.places {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// databases are those that there are.
func (in *assessed) databases() (ids []uuid.UUID) {
	for _, on := range in.on {
		for _, id := range on {
			if id != uuid.Nil {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// keepToLimit refuses what a limited token may not say.
func (in *assessed) keepToLimit(limit fleet.Limit) error {
	var outside []string
	for i, id := range in.places {
		if limit != nil && !limit.Allows(id) {
			outside = append(outside, fmt.Sprintf("#/assessments/%d/instance", i))
		}
	}
	if len(outside) > 0 {
		return usecase.OutsideLimit(outside)
	}
	return nil
}

// refuse says which assessments are of instances that have a connection registered.
func (in *assessed) refuse(collected map[uuid.UUID]bool) error {
	r := rules{}
	for i, id := range in.places {
		if collected[id] {
			r.breaks(fmt.Sprintf("#/assessments/%d/instance", i), byCollector, "was registered by DSN, and Muster assesses it over that")
		}
	}
	if len(r.broken) > 0 {
		return r.err()
	}
	return nil
}

// addAccepted puts in what was accepted when each assessment was made, as far as it is
// in force still.
func (d *Doors) addAccepted(ctx context.Context, organization uuid.UUID, sent []assessment.Sent) error {
	of := map[uuid.UUID][]snapshot.Exception{}
	for i := range sent {
		one := &sent[i]
		accepted, known := of[one.Instance]
		if !known {
			var err error
			if accepted, err = d.Accepted(ctx, organization, one.Instance); err != nil {
				return err
			}
			of[one.Instance] = accepted
		}
		one.Accepted = slices.DeleteFunc(slices.Clone(accepted), func(x snapshot.Exception) bool { return x.GrantedAt.After(one.At) })
	}
	return nil
}
