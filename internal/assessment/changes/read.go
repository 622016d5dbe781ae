package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/postgres/statement"
)

// Setting is a setting as the last look found it.
type Setting struct {
	Name  string
	Key   string // under which the log knows it
	Value *string
	Unit  string
}

// Settings returns the settings of an instance of the organization by name; none if it was
// never assessed.
func Settings(ctx context.Context, q sqlx.QueryerContext, organization, instance uuid.UUID) ([]Setting, error) {
	row, found, err := statement.Find[struct{ State, Salt []byte }](ctx, q, "read the settings of instance "+instance.String(),
		`SELECT state, salt FROM instance_states JOIN change_salts USING (organization_id) WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
	if err != nil || !found {
		return nil, err
	}
	var state known
	if err := json.Unmarshal(row.State, &state); err != nil {
		return nil, fmt.Errorf("decode what is known of instance %s: %w", instance, err)
	}
	var out []Setting
	for _, k := range state.Items {
		if k.Kind == fleet.ChangedSetting {
			s := Setting{Name: k.Name, Key: keyOf(row.Salt, k), Unit: k.Unit}
			if !k.Secret {
				s.Value = &k.Value
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// Place is where a change stands: the nth of those of an assessment.
type Place struct {
	Assessment uuid.UUID
	Nth        int
}

// Values are what a change shows.
type Values struct {
	Name          string
	Before, After *string
}

// ValuesOf returns the values of changes of an organization's assessments, as far as they
// are kept.
func ValuesOf(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, assessments []uuid.UUID) (map[Place]Values, error) {
	type row struct {
		Assessment uuid.UUID `db:"assessment_id"`
		Nth        int       `db:"nth"`
		Name       string    `db:"name"`
		Before     *string   `db:"before_value"`
		After      *string   `db:"after_value"`
	}
	rows, err := statement.All[row](ctx, q, "read the values of changes", `SELECT assessment_id, nth, name, before_value, after_value
		FROM instance_change_values WHERE organization_id = $1 AND assessment_id = ANY ($2)`, organization, statement.IDs(assessments))
	out := make(map[Place]Values, len(rows))
	for _, r := range rows {
		out[Place{r.Assessment, r.Nth}] = Values{r.Name, r.Before, r.After}
	}
	return out, err
}

// keyOf is the key under which the log knows an item: the name of what PostgreSQL comes
// with, a digest of any other.
func keyOf(salt []byte, k Kept) string {
	named := k.Kind == fleet.ChangedVersion || k.Kind == fleet.ChangedReplication || k.Kind == fleet.ChangedStart
	if named || k.Kind == fleet.ChangedSetting && !k.Sent && !strings.Contains(k.Name, ".") {
		return k.Name
	}
	return digest(salt, string(k.Kind), k.Database, k.Name)
}

// Told is the log's last record of an instance's assessments; ok is false if there is none.
func Told(ctx context.Context, q sqlx.QueryerContext, organization, instance uuid.UUID) (told fleet.InstanceAssessed, ok bool, err error) {
	row, ok, err := statement.Find[[]byte](ctx, q, "read what the log was told of instance "+instance.String(),
		`SELECT told FROM instance_states WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
	if err != nil || !ok {
		return told, false, err
	}
	if err := json.Unmarshal(row, &told); err != nil {
		return told, false, fmt.Errorf("decode the recorded results of instance %s: %w", instance, err)
	}
	return told, true, nil
}
