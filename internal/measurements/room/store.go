package room

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/measurements/arrival"
	"muster/internal/measurements/forecast"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/put_state.sql
	putState string
	//go:embed sql/put_sizes.sql
	putSizes string
	//go:embed sql/histories.sql
	historiesQuery string
	//go:embed sql/forget.sql
	forgetDays string
)

// How long sizes are kept, how many days a forecast looks back, and how late a look may come.
const (
	DaysKept = 100 * 24 * time.Hour
	Lookback = 60 * 24 * time.Hour
	apart    = 3*time.Hour - 10*time.Minute // between two values
)

// InstanceSubject is the subject of sizes that a server tells.
func InstanceSubject(instance uuid.UUID) string { return "instance " + instance.String() }

// HostSubject is the subject of the volumes of a host.
func HostSubject(host string) string { return "host " + host }

// Record keeps States of an organization; received is when they came.
func Record(ctx context.Context, db sqlx.ExtContext, organization uuid.UUID, received time.Time, states []State) error {
	for _, s := range states {
		if !arrival.InTime(s.At, received) {
			continue
		}
		s = s.Fit()
		s.At = instant.Cut(s.At)
		text, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encode the room of a server: %w", err)
		}
		if err := statement.Exec(ctx, db, "keep the room of a server", putState, organization, s.Instance, s.At, string(text)); err != nil {
			return err
		}
		if err := RecordSizes(ctx, db, organization, InstanceSubject(s.Instance), s.At, s.Sizes); err != nil {
			return err
		}
	}
	return nil
}

// RecordSizes keeps how much of things was used at a time. Of two values within three hours the first
// stays.
func RecordSizes(ctx context.Context, db sqlx.ExtContext, organization uuid.UUID, subject string, at time.Time, sizes []Size) error {
	type row struct {
		Subject    string
		Kind       string
		Name       string
		Used, Size float64
	}
	var rows []row
	seen := map[[2]string]bool{}
	for _, s := range sizes {
		legible := clean(&s.Name) // which may make two names one
		if key := [2]string{string(s.Kind), s.Name}; legible && !seen[key] {
			seen[key] = true
			rows = append(rows, row{subject, string(s.Kind), s.Name, s.Used, s.Limit})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	args := append([]any{organization, at.Unix()}, statement.Columns(rows)...)
	return statement.Exec(ctx, db, fmt.Sprintf("keep %d sizes", len(rows)), putSizes, append(args, int64(apart.Seconds()))...)
}

// Newest is the newest State of an instance; ok is false if there is none.
func Newest(ctx context.Context, q sqlx.QueryerContext, organization, instance uuid.UUID) (s State, ok bool, err error) {
	row, ok, err := statement.Find[struct {
		At    time.Time `db:"at"`
		State []byte    `db:"state"`
	}](ctx, q, "read the room of a server", `SELECT at, state FROM room_states WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
	if err != nil || !ok {
		return s, false, err
	}
	if err := json.Unmarshal(row.State, &s); err != nil {
		return s, false, fmt.Errorf("decode the room of a server: %w", err)
	}
	s.Instance, s.At = instance, row.At.UTC()
	return s, true, nil
}

// History is how much of something was used, oldest first.
type History struct {
	Subject string
	Kind    Kind
	Name    string
	Points  []forecast.Point
}

// Histories returns what was used of the things of subjects since a time: of each subject and kind those of
// the most that is used now.
func Histories(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, subjects []string, since time.Time, most int) (all []History, err error) {
	err = statement.Each(ctx, q, "read how sizes grew", historiesQuery, []any{organization, subjects, since.UTC().Format(time.DateOnly), most}, func(rows *sqlx.Rows) error {
		var h History
		var points []byte
		if err := rows.Scan(&h.Subject, &h.Kind, &h.Name, &points); err != nil {
			return err
		}
		var values [][3]float64
		if err := json.Unmarshal(points, &values); err != nil {
			return fmt.Errorf("decode sizes: %w", err)
		}
		if n := len(all) - 1; n < 0 || all[n].Subject != h.Subject || all[n].Kind != h.Kind || all[n].Name != h.Name {
			all = append(all, h)
		}
		last := &all[len(all)-1]
		for _, v := range values {
			last.Points = append(last.Points, forecast.Point{At: time.Unix(int64(v[0]), 0).UTC(), Used: v[1], Size: v[2]})
		}
		return nil
	})
	return all, err
}

// Distinct leaves out the volumes of servers that one of their hosts tells, too: a server does not know what other programs
// keep for themselves. hostsOf are the subjects of the hosts of a server, by its subject.
func Distinct(all []History, hostsOf map[string][]string) []History {
	told := map[[2]string]time.Time{} // by host and volume
	for _, h := range all {
		if h.Kind == Volume && len(hostsOf[h.Subject]) == 0 {
			told[[2]string{h.Subject, mountKey(h.Name)}] = h.Points[len(h.Points)-1].At
		}
	}
	return slices.DeleteFunc(all, func(h History) bool {
		return h.Kind == Volume && slices.ContainsFunc(hostsOf[h.Subject], func(host string) bool {
			at, by := told[[2]string{host, mountKey(h.Name)}]
			return by && h.Points[len(h.Points)-1].At.Sub(at) < 24*time.Hour
		})
	})
}

// mountKey is a mount point as programs of Windows and SQL Server spell it: "C:", "c:\\".
func mountKey(name string) string { return strings.ToLower(strings.TrimRight(name, `\/`)) }

// portion is how many rows one statement deletes.
const portion = 1000

// Forget deletes what is older than it is kept, by the database's clock.
func Forget(ctx context.Context, db *sqlx.DB) error {
	for {
		n, err := statement.Affected(ctx, db, "forget old sizes", forgetDays, DaysKept.Seconds(), portion)
		if err != nil || n < portion {
			return err
		}
	}
}
