package alerts

import (
	"context"
	_ "embed" // the queries
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

//go:embed sql/touching.sql
var touchingQuery string

//go:embed sql/count_touching.sql
var countTouching string

// touches is true of an alert (a) that concerns instance $2 of organization $1, and of its
// database $3 or of none where that is not null, that was open or fired at some
// time from $4 until $5. An open one needs no look at alert_last_seen for that.
const touches = `a.organization_id = $1
  AND (a.instance_id = $2 OR a.id = ANY (ARRAY(SELECT o.id FROM alerts_v5.alerts o
       WHERE o.organization_id = $1 AND o.other_instance_ids <> '' AND string_to_array(o.other_instance_ids, ',') && ARRAY[$2::text])))
  AND ($3::uuid IS NULL OR a.database_id IS NULL OR a.database_id = $3)
  AND least(a.created_at, a.first_triggered_at) < $5
  AND (a.resolved_at IS NULL OR greatest(a.resolved_at, a.last_triggered_at) >= $4)`

// Touched selects the alerts of one instance that have to do with a window: that
// were open at some time in it, or fired.
type Touched struct {
	Organization, Instance uuid.UUID
	Database               *uuid.UUID // nil: all; else its own and the instance-wide ones
	From, To               time.Time  // To is exclusive
}

// Touching returns at most that many alerts and their total: unmuted before muted ones, the
// worst first, and among equals the newest first. It includes the alerts of a removed instance,
// and those of others that concern it, about which nothing else is said of those others.
func (r *Reader) Touching(ctx context.Context, t Touched, most int) ([]Alert, int, error) {
	fill := strings.NewReplacer("{{columns}}", columnsRead, "{{places}}", placesNamed, "{{seen later}}", seenLater, "{{touches}}", touches)
	found, err := r.alerts(ctx, fill.Replace(touchingQuery), t.Organization, t.Instance, t.Database, t.From, t.To, most)
	if err != nil {
		return nil, 0, fmt.Errorf("read alerts of an instance: %w", err)
	}
	for i, a := range found {
		found[i], _ = a.Within(func(id uuid.UUID) bool { return id == t.Instance })
	}
	total := len(found)
	if total == most { // there may be more
		if err := r.db.GetContext(ctx, &total, fill.Replace(countTouching), t.Organization, t.Instance, t.Database, t.From, t.To); err != nil {
			return nil, 0, fmt.Errorf("count alerts of an instance: %w", err)
		}
	}
	return found, max(total, len(found)), nil
}
