package alerts_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/eventstore"
)

// The fleet of the benchmarks.
const (
	yearInstances         = 10_000
	yearDatabases         = 6 // of each instance
	yearRules             = 300
	yearLength            = 365 * 24 * time.Hour
	yearFiring, yearStale = 0.004, 0.001 // of all alerts: open and still firing, open and silent
	yearMuted             = 0.02
	yearFiringSince       = 4 * 24 * time.Hour // at most
)

// year is a fleet's log of a year, the same each time: alerts of a few hundred
// rules, most of them over within hours, some still firing.
type year struct {
	organization uuid.UUID
	now          time.Time
	instances    []uuid.UUID
	alerts       int
	events       int64 // once planted
	draw         *rand.Rand
	log          []yearEvent
	versions     map[uuid.UUID]int64
	firing       []uuid.UUID
}

// yearEvent is an event before it is encoded.
type yearEvent struct {
	at         time.Time
	stream     uuid.UUID
	streamType string
	fact       any
}

func newYear(alerts int) *year {
	y := &year{
		organization: yearID(0, 0), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), alerts: alerts,
		draw: rand.New(rand.NewPCG(1, 2)), versions: map[uuid.UUID]int64{},
	}
	y.fleet()
	for n := range alerts {
		y.alert(n)
	}
	slices.SortStableFunc(y.log, func(a, b yearEvent) int { return a.at.Compare(b.at) })
	y.events = int64(len(y.log))
	return y
}

// yearID makes ids that grow, as those of version 7 do.
func yearID(kind byte, n int) (id uuid.UUID) {
	id[0], id[1], id[6], id[8] = 1, kind, 0x70, 0x80
	binary.BigEndian.PutUint32(id[2:], uint32(n))
	return id
}

func (y *year) happens(at time.Time, streamType string, stream uuid.UUID, fact any) {
	y.log = append(y.log, yearEvent{at, stream, streamType, fact})
}

func (y *year) fleet() {
	start := y.now.Add(-yearLength)
	for i := range yearInstances {
		id, name := yearID(1, i), fmt.Sprintf("pg-%05d", i)
		y.instances = append(y.instances, id)
		y.happens(start, fleet.InstanceStream, id, fleet.InstanceRegistered{
			ExternalID: name, Name: name, Engine: fleet.PostgreSQL, Version: "18.1", Host: name + ".example", Active: true, CreatedAt: start,
		})
		for d := range yearDatabases {
			name := "db" + strconv.Itoa(d)
			y.happens(start, fleet.DatabaseStream, yearID(2, i*yearDatabases+d), fleet.DatabaseRegistered{
				InstanceID: id, ExternalID: name, Name: name, CreatedAt: start,
			})
		}
	}
}

// alert tells the story of one alert.
func (y *year) alert(n int) {
	id := yearID(3, n)
	raised := y.now.Add(-yearLength + time.Duration(float64(yearLength)*float64(n)/float64(y.alerts)))
	rule := y.draw.IntN(yearRules)
	d := domain.Details{
		Title: fmt.Sprintf("Rule %d says that something is above %d %%", rule, 50+rule%50), Description: "For ten minutes by now.",
		Severity:  domain.Severities()[[]int{0, 0, 0, 1, 1, 1, 1, 1, 2, 2}[y.draw.IntN(10)]],
		Rule:      &domain.Rule{ID: "rule-" + strconv.Itoa(rule), Name: "Something " + strconv.Itoa(rule)},
		CreatedAt: raised, FirstTriggeredAt: raised, LastTriggeredAt: raised,
	}
	if instance := y.draw.IntN(yearInstances + yearInstances/100); instance < yearInstances { // one in a hundred has none
		d.InstanceID = yearID(1, instance)
		if y.draw.IntN(4) == 0 {
			d.DatabaseID = yearID(2, instance*yearDatabases+y.draw.IntN(yearDatabases))
		}
	}
	happens := func(at time.Time, fact domain.Event) { y.happens(at, domain.StreamType, id, fact) }
	happens(raised, domain.Raised{Key: "external/" + strconv.Itoa(n), Details: d})
	if y.draw.Float64() < yearMuted {
		happens(raised.Add(time.Minute), domain.Muted{})
	}
	recent := yearFiring * float64(yearLength) / float64(yearFiringSince)
	switch open := y.draw.Float64(); {
	case y.now.Sub(raised) < yearFiringSince && open < recent:
		for at := raised.Add(time.Hour); at.Before(y.now); at = at.Add(time.Hour) {
			happens(at, domain.StillFiring{LastTriggeredAt: at})
		}
		y.firing = append(y.firing, id)
		return
	case open > 1-yearStale:
		return
	}
	last := raised.Add(time.Duration(y.draw.IntN(240)) * time.Minute)
	if y.draw.IntN(5) == 0 {
		at := last.Add(time.Duration(y.draw.IntN(60)) * time.Minute)
		happens(at, domain.TriggeredAgain{FirstTriggeredAt: at, LastTriggeredAt: at})
		last = at
	}
	last = last.Add(time.Minute)
	if y.draw.IntN(10) == 0 {
		happens(last, domain.Resolved{ResolvedAt: last, LastTriggeredAt: last})
		return
	}
	over := last.Add(5 * time.Minute)
	happens(over, domain.AutoResolved{ResolvedAt: over, LastTriggeredAt: last})
}

// plant writes the log. The chain is left empty, which no projection looks at.
func (y *year) plant(ctx context.Context, db *sqlx.DB, types *eventstore.Registry) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	columns := []string{"log", "position", "organization_id", "stream_type", "stream_id", "version", "type", "schema_version",
		"occurred_at", "recorded_at", "data", "metadata", "digest", "hash"}
	err = conn.Raw(func(driver any) error {
		next := 0
		_, err := driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{"events"}, columns, pgx.CopyFromFunc(func() ([]any, error) {
			if next == len(y.log) {
				return nil, nil
			}
			e := &y.log[next]
			next++
			encoded, err := types.Encode(e.fact)
			if err != nil {
				return nil, err
			}
			y.versions[e.stream]++
			return []any{string(eventstore.Fleet), int64(next), [16]byte(y.organization), e.streamType, [16]byte(e.stream),
				y.versions[e.stream], encoded.Type, int32(1), e.at, e.at, encoded.Data, []byte(`{"actorId":"system:ingest"}`), []byte{}, []byte{}}, nil
		}))
		return err
	})
	if err != nil {
		return err
	}
	y.log, y.versions = nil, nil
	if _, err := db.ExecContext(ctx, `UPDATE log_head SET position = $1 WHERE log = 'fleet'`, y.events); err != nil {
		return err
	}
	firing := make([][16]byte, len(y.firing))
	for i, id := range y.firing {
		firing[i] = id
	}
	_, err = db.ExecContext(ctx, `INSERT INTO alert_last_seen (alert_id, organization_id, last_triggered_at, ends_at)
SELECT id, $2, $3::timestamptz - n % 60 * interval '1 second', $3::timestamptz + interval '5 minutes'
FROM unnest($1::uuid[]) WITH ORDINALITY AS firing (id, n)`, firing, y.organization, y.now)
	return err
}
