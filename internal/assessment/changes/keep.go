package changes

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/assessment/findings"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
)

// MaxChanges is how many differences one event lists.
const MaxChanges = 500

// Standing is what caps a score beside the checks, as the inputs of a report have it. What is nil was not looked at.
type Standing struct {
	Release    *snapshot.Release
	OpenAlerts *snapshot.OpenAlerts
	Server     *snapshot.Server
	// Unread says that it could not be read. Then there is no score: one without its caps would be too good.
	Unread bool
}

// Assessed is an assessment whose Standing is asked for.
type Assessed struct {
	Instance uuid.UUID
	Engine   fleet.Engine
	At       time.Time
	Facts    *snapshot.Assessment
}

// Look is one assessment that was recorded.
type Look struct {
	Organization, Instance uuid.UUID
	Engine                 fleet.Engine
	ID                     uuid.UUID // of the assessment
	At                     time.Time // when it was recorded
	Assessment             snapshot.Assessment
	State                  State
	Accepted               []snapshot.Exception // those in force
	Standing               Standing
	// Altered is called if the stored state of the instance is not what the program wrote; nil:
	// it is not called.
	Altered func(sentence string)
}

var (
	//go:embed sql/keep_state.sql
	keepStateSQL string
	//go:embed sql/keep_values.sql
	keepValuesSQL string
)

// Keep adds one more look and returns the event for the log; news is false if the log has it
// already. It belongs in the transaction that records the assessment, which has locked the
// instance's target.
func Keep(ctx context.Context, tx *sqlx.Tx, l Look) (e fleet.InstanceAssessed, news bool, err error) {
	if l.Assessment.Outcome == snapshot.OutcomeUnreachable {
		return e, false, nil
	}
	if e, err = score(l); err != nil {
		return e, false, err
	}
	if e.New, err = findings.New(ctx, tx, l.Organization, l.Instance, l.Assessment, l.Accepted, l.At); err != nil {
		return e, false, err
	}
	l.State.startedAt(l.Assessment.ServerStartedAt)
	salt, err := saltOf(ctx, tx, l.Organization)
	if err != nil {
		return e, false, err
	}
	before, told, err := last(ctx, tx, l)
	if err != nil {
		return e, false, err
	}
	now, differ := before.after(l.State, func(i Item) string { return digest(salt, string(i.Kind), i.Database, i.Name, i.Value) })
	e.Omitted = max(0, len(differ)-MaxChanges)
	differ = differ[:len(differ)-e.Omitted]
	for _, d := range differ {
		e.Changes = append(e.Changes, change(salt, d))
	}
	news = len(differ) > 0 || len(e.New) > 0 || !timegrid.Day.Floor(told.At).Equal(timegrid.Day.Floor(e.At)) || !told.Same(e)
	if !news && slices.Equal(before.Items, now.Items) && slices.Equal(before.Seen, now.Seen) {
		return e, false, nil
	}
	return e, news, write(ctx, tx, l, now, e, differ)
}

// Late is the event for a look that comes after a later one was stored: the score of its day.
// The changes between its neighbors are recorded, and stay so.
func Late(l Look) (fleet.InstanceAssessed, error) { return score(l) }

// last is the state of the last look, and its record in the log. A state that cannot be decoded
// was altered: it is reported, and nothing is known.
func last(ctx context.Context, tx *sqlx.Tx, l Look) (before known, told fleet.InstanceAssessed, err error) {
	row, found, err := statement.Find[struct{ State, Told []byte }](ctx, tx, "read what is known of instance "+l.Instance.String(),
		`SELECT state, told FROM instance_states WHERE organization_id = $1 AND instance_id = $2`, l.Organization, l.Instance)
	if err != nil || !found {
		return before, told, err
	}
	if err := json.Unmarshal(row.State, &before); err != nil {
		l.altered("of its last assessment", err)
		before = known{}
	}
	if err := json.Unmarshal(row.Told, &told); err != nil {
		l.altered("of what the log was told of it", err)
		told = fleet.InstanceAssessed{}
	}
	return before, told, nil
}

func (l Look) altered(what string, err error) {
	if l.Altered != nil {
		l.Altered(fmt.Sprintf("what is kept of instance %s %s cannot be decoded: %v", l.Instance, what, err))
	}
}

// change is a difference as the log keeps it.
func change(salt []byte, d difference) fleet.Change {
	c := fleet.Change{Kind: d.either().Kind, Key: keyOf(salt, d.either())}
	if d.before != nil {
		c.Before = d.before.Digest
	}
	if d.after != nil {
		c.After = d.after.Digest
	}
	return c
}

// digest is 128 bits of an HMAC, in hex; the lengths of the parts separate them.
func digest(salt []byte, parts ...string) string {
	mac := hmac.New(sha256.New, salt)
	for _, part := range parts {
		fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// saltOf is the salt of an organization's digests, made when it is first asked for.
func saltOf(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) ([]byte, error) {
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // does not fail since Go 1.24
	if err := statement.Exec(ctx, tx, "make a salt", `INSERT INTO change_salts (organization_id, salt) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		organization, fresh); err != nil {
		return nil, err
	}
	return statement.One[[]byte](ctx, tx, "read the salt", `SELECT salt FROM change_salts WHERE organization_id = $1`, organization)
}

// valueRow is what a change shows of one difference, in the order of keep_values.sql.
type valueRow struct {
	Organization, Instance, Assessment uuid.UUID
	Nth                                int
	At                                 time.Time
	Name                               string
	Before, After                      *string
}

func write(ctx context.Context, tx *sqlx.Tx, l Look, now known, e fleet.InstanceAssessed, differ []difference) error {
	state, err := json.Marshal(now)
	if err != nil {
		return fmt.Errorf("encode what is known of instance %s: %w", l.Instance, err)
	}
	e.Changes, e.New = []fleet.Change{}, nil // the log has them
	told, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode what the log says of instance %s: %w", l.Instance, err)
	}
	if err := statement.Exec(ctx, tx, "keep what is known of instance "+l.Instance.String(), keepStateSQL,
		l.Organization, l.Instance, string(state), string(told)); err != nil {
		return err
	}
	rows := make([]valueRow, len(differ))
	for i, d := range differ {
		rows[i] = valueRow{l.Organization, l.Instance, l.ID, i, l.At, storable(d.either().called()), shown(d.before), shown(d.after)}
	}
	return statement.Exec(ctx, tx, "keep what changed on instance "+l.Instance.String(), keepValuesSQL, statement.Columns(rows)...)
}

func shown(k *Kept) *string {
	text := k.Shown()
	if text != nil {
		*text = storable(*text)
	}
	return text
}

// storable is a text as PostgreSQL can keep it.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Forget deletes what is known of an instance, on q, for a caller who removes it.
func Forget(ctx context.Context, q sqlx.ExecerContext, organization, instance uuid.UUID) error {
	for _, table := range []string{"instance_states", "instance_change_values"} {
		if err := statement.Exec(ctx, q, "forget what changed on instance "+instance.String(),
			`DELETE FROM `+table+` WHERE organization_id = $1 AND instance_id = $2`, organization, instance); err != nil {
			return err
		}
	}
	return nil
}

// Prune deletes the values of changes that an organization does not want kept any longer.
func Prune(ctx context.Context, q sqlx.ExecerContext) (int64, error) {
	return statement.Affected(ctx, q, "prune the values of old changes", `DELETE FROM instance_change_values v USING organizations o
		WHERE o.id = v.organization_id AND v.recorded_at < now() - make_interval(days => o.inputs_retention_days)`)
}
