package heartbeat

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
)

// Report is what an agent says.
type Report struct {
	Organization        uuid.UUID
	Token               uuid.UUID // that it calls with: the same sender by another token is another agent
	Sender              string
	Name, Version, Host string
	Buffer              Buffer
	Loops               []Loop
	Instances           []Instance // none twice
}

// Loop is a background loop of an agent that fell, and was started again.
type Loop struct {
	Loop      string    `json:"loop"`
	Falls     int64     `json:"falls"` // since the agent started
	LastAt    time.Time `json:"lastAt"`
	InTrouble bool      `json:"inTrouble"`
}

func (l Loop) compare(o Loop) int {
	if l.InTrouble != o.InTrouble {
		if l.InTrouble {
			return -1
		}
		return 1
	}
	return cmp.Or(o.LastAt.Compare(l.LastAt), cmp.Compare(l.Loop, o.Loop))
}

// Buffer is what an agent could not send yet, and what it never will.
type Buffer struct {
	Bytes    int64            `json:"bytes"`
	MaxBytes int64            `json:"maxBytes"`
	Records  int64            `json:"records"`
	OldestAt *time.Time       `json:"oldestAt"`
	Facts    int              `json:"facts"`
	Refused  int              `json:"refused"`
	Dropped  map[string]int64 `json:"dropped"`
}

// Instance is what an agent says of a server.
type Instance struct {
	ID      uuid.UUID
	Error   *Failure // nil: it can be reached
	Missing []string // the objects that its account may not read
}

// Failure is why a server cannot be reached.
type Failure struct {
	Class  string    `json:"class"`
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
}

// State is what is known of an instance that an agent measures.
type State struct {
	Name, Version, Host string
	Buffer              Buffer
	Loops               []Loop // those in trouble first, then the latest first
	Instance            Instance
	SeenAt              time.Time // when the report came in
	Takeover            *Takeover // nil: no agent took the statements over from another
}

// Takeover is when an agent took the statements of an instance over from another. Those that were
// executed between From and To were counted by neither.
type Takeover struct {
	By       string // the agent's name; empty: it has not reported
	At, From time.Time
	To       *time.Time // nil: nothing was kept of the new one so far
}

// Store keeps reports.
type Store struct{ DB *sqlx.DB }

// kept is how long the report of an agent that is gone stays.
const kept = 30 * 24 * time.Hour

var (
	//go:embed sql/keep_report.sql
	keepReport string
	//go:embed sql/keep_instances.sql
	keepInstances string
	//go:embed sql/of.sql
	ofInstances string
)

// Keep keeps a report in the place of the last one of the sender and its token.
func (s *Store) Keep(ctx context.Context, r Report) error {
	buffer, err := json.Marshal(r.Buffer)
	if err != nil {
		return fmt.Errorf("encode the report of an agent: %w", err)
	}
	loops, err := json.Marshal(append([]Loop{}, r.Loops...))
	if err != nil {
		return fmt.Errorf("encode the report of an agent: %w", err)
	}
	instances := slices.SortedFunc(slices.Values(r.Instances), func(a, b Instance) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	ids, failures, missing := make([]uuid.UUID, len(instances)), make([]string, len(instances)), make([]string, len(instances))
	for i, one := range instances {
		ids[i] = one.ID
		if one.Error != nil {
			text, err := json.Marshal(one.Error)
			if err != nil {
				return fmt.Errorf("encode the report of an agent: %w", err)
			}
			failures[i] = string(text)
		}
		text, err := json.Marshal(append([]string{}, one.Missing...))
		if err != nil {
			return fmt.Errorf("encode the report of an agent: %w", err)
		}
		missing[i] = string(text)
	}
	return transact.Once(ctx, s.DB, nil, func(tx *sqlx.Tx) error {
		if err := statement.Exec(ctx, tx, "keep the report of an agent", keepReport, r.Organization, r.Token, r.Sender, r.Name, r.Version, r.Host, string(buffer), string(loops)); err != nil {
			return err
		}
		if err := statement.Exec(ctx, tx, "keep what an agent says of instances", keepInstances, r.Organization, r.Token, r.Sender, statement.IDs(ids), failures, missing); err != nil {
			return err
		}
		for _, table := range []string{"agent_servers", "agents"} {
			if err := statement.Exec(ctx, tx, "forget agents that are gone", `DELETE FROM `+table+`
				WHERE organization_id = $1 AND received_at < now() - make_interval(secs => $2)`, r.Organization, kept.Seconds()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Of is what is known of those of the instances that an agent measures.
func (s *Store) Of(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]State, error) {
	rows, err := statement.All[struct {
		Instance uuid.UUID  `db:"instance_id"`
		Error    []byte     `db:"error"`
		Missing  []byte     `db:"missing_grants"`
		Name     string     `db:"name"`
		Version  string     `db:"version"`
		Host     string     `db:"host"`
		Buffer   []byte     `db:"buffer"`
		Loops    []byte     `db:"loops"`
		At       time.Time  `db:"received_at"`
		TakenAt  *time.Time `db:"taken_at"`
		TakenBy  string     `db:"taken_by"`
		LostFrom *time.Time `db:"lost_from"`
		LostTo   *time.Time `db:"lost_to"`
	}](ctx, s.DB, fmt.Sprintf("read what agents say of %d instances", len(instances)), ofInstances, organization, statement.IDs(instances))
	if err != nil {
		return nil, err
	}
	out := make(map[uuid.UUID]State, len(rows))
	for _, row := range rows {
		state := State{Name: row.Name, Version: row.Version, Host: row.Host, Instance: Instance{ID: row.Instance}, SeenAt: row.At.UTC()}
		for into, text := range map[any][]byte{&state.Buffer: row.Buffer, &state.Loops: row.Loops, &state.Instance.Missing: row.Missing, &state.Instance.Error: row.Error} {
			if text == nil {
				continue
			}
			if err := json.Unmarshal(text, into); err != nil {
				return nil, fmt.Errorf("decode what an agent says of instance %s: %w", row.Instance, err)
			}
		}
		slices.SortFunc(state.Loops, Loop.compare)
		if row.TakenAt != nil && row.LostFrom != nil {
			state.Takeover = &Takeover{By: row.TakenBy, At: row.TakenAt.UTC(), From: row.LostFrom.UTC(), To: row.LostTo}
		}
		out[row.Instance] = state
	}
	return out, nil
}
