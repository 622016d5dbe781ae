package audit

import (
	"context"
	_ "embed" // the queries
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/domain/team"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/trail.sql
	trailQuery string
	//go:embed sql/list.sql
	listQuery string
	//go:embed sql/list_by_type.sql
	listByType string
	//go:embed sql/list_by_actor.sql
	listByActor string
	//go:embed sql/seen.sql
	seenCondition string
)

// Reader answers from the live generation of the audit projection.
type Reader struct{ db *sqlx.DB }

// NewReader returns a reader on db.
func NewReader(db *sqlx.DB) *Reader { return &Reader{db: db} }

// Entry is one audited fact.
type Entry struct {
	Log      string          `db:"log"`
	Position int64           `db:"position"`
	At       time.Time       `db:"at"`       // recorded_at
	Type     string          `db:"type"`     // the trail's name: queued, reused, buildStarted, …
	ActorID  string          `db:"actor_id"` // member id, "system:<component>" or "token:<id>"
	Subject  uuid.UUID       `db:"subject"`  // the stream
	Data     json.RawMessage `db:"data"`     // as recorded
}

// Query selects entries of an organization. Empty lists and zero times do not narrow.
type Query struct {
	Organization uuid.UUID
	From, To     time.Time // from inclusive, to exclusive
	Actors       []string
	Types        []string
	Without      []string    // types that are left out
	Within       team.World  // only what is about its servers, and what Member did apart from servers; nil: the whole organization
	Member       uuid.UUID   // who asks; with Within only
	About        fleet.Scope // whose streams the entries are of; the zero value: any
	Before       *Cursor     // where the page before ended; nil: from the newest
	Limit        int
}

// Cursor is where an entry stands in the list.
type Cursor struct {
	At       time.Time
	Log      string
	Position int64
}

// Cursor is where the entry stands in the list.
func (e Entry) Cursor() Cursor { return Cursor{At: e.At, Log: e.Log, Position: e.Position} }

// Trail returns the entries of one stream, oldest first, after the given
// position of its log, at most limit.
func (r *Reader) Trail(ctx context.Context, organization, stream uuid.UUID, after int64, limit int) ([]Entry, error) {
	return r.entries(ctx, "read trail", trailQuery, organization, stream, after, limit)
}

// Ends of time, for what a query leaves open.
var (
	earliest = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// List returns an organization's entries of all logs, newest first.
func (r *Reader) List(ctx context.Context, q Query) ([]Entry, error) {
	if q.From.IsZero() {
		q.From = earliest
	}
	if q.To.IsZero() {
		q.To = latest
	}
	before := Cursor{At: latest}
	if q.Before != nil {
		before = *q.Before
	}
	// Each way of asking has its query and its index: one query for all of them
	// read every entry where none was of the type.
	without := append([]string{}, q.Without...) // never null
	args := []any{q.Organization, q.From, q.To, before.At, before.Log, before.Position, q.Limit}
	var query string
	switch {
	case len(q.Actors) > 0:
		query, args = listByActor, append(args, q.Actors, q.Types, without)
	case len(q.Types) > 0:
		wanted := slices.DeleteFunc(slices.Clone(q.Types), func(t string) bool { return slices.Contains(without, t) })
		query, args = listByType, append(args, wanted)
	default:
		query, args = listQuery, append(args, without)
	}
	seen := ""
	if q.Within != nil {
		args = append(args, statement.IDs(q.Within.Instances()), q.Member.String())
		seen = strings.NewReplacer("{{servers}}", fmt.Sprintf("$%d::uuid[]", len(args)-1), "{{member}}", fmt.Sprintf("$%d::text", len(args))).Replace(seenCondition)
	}
	if q.About.Filtered {
		args = append(args, statement.IDs(q.About.Instances))
		seen += fmt.Sprintf(" AND e.subject = ANY ($%d::uuid[])", len(args))
	}
	return r.entries(ctx, "list audit entries", strings.Replace(query, "{{seen}}", seen, 1), args...)
}

func (r *Reader) entries(ctx context.Context, what, query string, args ...any) ([]Entry, error) {
	return statement.All[Entry](ctx, r.db, what, query, args...)
}

//go:embed sql/names.sql
var namesQuery string

// anID finds ids in what was recorded, wherever they stand in it.
var anID = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// Names returns what the ids that entries are about or mention are called today, by id.
// Events carry ids only; who was erased has the empty name, and what is unknown to the
// organization none.
func (r *Reader) Names(ctx context.Context, organization uuid.UUID, entries []Entry) (map[string]string, error) {
	mentioned := map[string]bool{}
	for _, e := range entries {
		mentioned[e.Subject.String()] = true
		if token, is := strings.CutPrefix(e.ActorID, TokenActor); is {
			mentioned[token] = true
		}
		for _, id := range anID.FindAll(e.Data, -1) {
			mentioned[string(id)] = true
		}
	}
	ids := make([]string, 0, len(mentioned))
	for id := range mentioned {
		ids = append(ids, id)
	}
	var kinds, shorts []string
	for _, d := range report.Definitions() {
		kinds, shorts = append(kinds, string(d.Name)), append(shorts, d.Short)
	}
	return statement.Map[string, string](ctx, r.db, "look up names for the audit list", namesQuery, organization, ids, kinds, shorts, alert.TitleServers)
}
