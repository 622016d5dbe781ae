package assessment

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
	"muster/internal/servers"
)

// KnownServerError says that an instance would lead to the server of another one.
type KnownServerError struct {
	Instance uuid.UUID // the other
	Pooled   bool      // one of them leads there through a pooler
}

func (e *KnownServerError) Error() string {
	return "the server is registered already, as instance " + e.Instance.String()
}

// SeenServer is which server answers for an instance.
type SeenServer struct {
	servers.Identity
	Instance uuid.UUID
	Separate bool // it was registered beside another instance of the server on purpose
	SeenAt   time.Time
	MovedAt  *time.Time // another server answered than before; nil: it was always this one
	ToldBy   *uuid.UUID // the limited token that told of it; nil: Muster met it, or a token without a limit told
}

// CountsFor reports whether the server may be shown beside another instance's: a limited
// token's report counts only for instances that the same token reported.
func (s SeenServer) CountsFor(other SeenServer) bool {
	return s.ToldBy == nil || other.ToldBy != nil && *s.ToldBy == *other.ToldBy
}

// seenRow is a SeenServer as it is kept.
type seenRow struct {
	Instance uuid.UUID       `db:"instance_id"`
	Engine   fleet.Engine    `db:"engine"`
	System   string          `db:"system_id"`
	Process  string          `db:"process_id"`
	Role     string          `db:"role"`
	Pooling  servers.Pooling `db:"pooling"`
	Separate bool            `db:"separate"`
	SeenAt   time.Time       `db:"seen_at"`
	MovedAt  *time.Time      `db:"moved_at"`
	Lately   bool            `db:"lately"` // it moved within an hour
	ToldBy   *uuid.UUID      `db:"told_by"`
}

func (r seenRow) seen() SeenServer {
	return SeenServer{
		Identity: servers.Identity{Engine: r.Engine, System: r.System, Process: r.Process, Role: r.Role, Pooling: r.Pooling},
		Instance: r.Instance, Separate: r.Separate, SeenAt: r.SeenAt.UTC(), MovedAt: utc(r.MovedAt), ToldBy: r.ToldBy,
	}
}

var (
	//go:embed sql/saw_server.sql
	sawServerSQL string
	//go:embed sql/servers_near.sql
	serversNearSQL string
)

const seenColumns = `instance_id, engine, system_id, process_id, role, pooling, separate, seen_at, moved_at, told_by`

// Copies are the instances of an organization whose servers have the system, or the
// process, of one: the same server, and the other copies of its cluster.
func (s *Store) Copies(ctx context.Context, organization uuid.UUID, of servers.Identity) ([]SeenServer, error) {
	return copies(ctx, s.db, organization, of)
}

func copies(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, of servers.Identity) ([]SeenServer, error) {
	rows, err := statement.All[seenRow](ctx, q, "look for a server among those that are known", `SELECT `+seenColumns+` FROM server_identities
		WHERE organization_id = $1 AND engine = $2 AND (system_id = $3 AND $3 <> '' OR process_id = $4 AND $4 <> '') ORDER BY instance_id`,
		organization, string(of.Engine), of.System, of.Process)
	if err != nil {
		return nil, err
	}
	seen := make([]SeenServer, len(rows))
	for i, row := range rows {
		seen[i] = row.seen()
	}
	return seen, nil
}

// RegisterServer stores the server of an instance that is registered, or is given another
// connection. It returns a *KnownServerError if another instance of the organization has that
// server, too, unless that is wanted (separate), or this one had it already. Two registrations
// at the same time take turns. An identity without an engine belongs to a server that was not
// reached.
func (s *Store) RegisterServer(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID, is servers.Identity, separate bool) error {
	err := statement.Exec(ctx, tx, "take a turn at registering servers", `SELECT pg_advisory_xact_lock(hashtext('register server'), hashtext($1))`, organization.String())
	if err != nil {
		return err
	}
	known, err := copies(ctx, tx, organization, is)
	if err != nil {
		return err
	}
	for _, own := range known { // another password, or another way to the same server
		if own.Instance == instance && own.Same(is) {
			separate, known = separate || own.Separate, nil
		}
	}
	for _, other := range known {
		if !separate && other.Instance != instance && other.Same(is) {
			return &KnownServerError{Instance: other.Instance, Pooled: other.Pooling != is.Pooling}
		}
	}
	return statement.Exec(ctx, tx, "keep the server of instance "+instance.String(), sawServerSQL,
		organization, instance, string(is.Engine), is.System, is.Process, is.Role, string(is.Pooling), separate, false, nil)
}

// SawServer keeps which server answered for an instance. It says whether that is another one
// than before, and for the first time within an hour. What the account may not read now stays
// as it was.
func (s *Store) SawServer(ctx context.Context, organization, instance uuid.UUID, is servers.Identity) (moved bool, err error) {
	return s.sawServer(ctx, organization, instance, is, nil)
}

// sawServer keeps who told of it, where that is a limited token: its word counts for its own
// instances alone, and takes nothing back of what another has told.
func (s *Store) sawServer(ctx context.Context, organization, instance uuid.UUID, is servers.Identity, by *uuid.UUID) (moved bool, err error) {
	err = transact.Once(ctx, s.db, nil, func(tx *sqlx.Tx) error {
		row, known, err := statement.Find[seenRow](ctx, tx, "read the server of instance "+instance.String(), `SELECT `+seenColumns+`,
			coalesce(moved_at > now() - interval '1 hour', false) AS lately FROM server_identities
			WHERE organization_id = $1 AND instance_id = $2 FOR UPDATE`, organization, instance)
		if err != nil {
			return err
		}
		before := row.seen()
		if known && before.Identity == is && (row.ToldBy == nil || by != nil && *by == *row.ToldBy) {
			return nil
		}
		moves := known && is.Moved(before.Identity)
		moved = moves && !row.Lately
		return statement.Exec(ctx, tx, "keep the server of instance "+instance.String(), sawServerSQL,
			organization, instance, string(is.Engine), is.System, is.Process, is.Role, string(is.Pooling), nil, moves, by)
	})
	if err != nil {
		return false, fmt.Errorf("note which server answers for instance %s: %w", instance, err)
	}
	return moved, nil
}

// AgentSawServers is SawServer for what an agent met; by is its token where that is limited,
// else uuid.Nil. Where Muster has a connection of its own, that counts.
func (s *Store) AgentSawServers(ctx context.Context, organization, by uuid.UUID, seen map[uuid.UUID]servers.Identity) error {
	collected, err := s.Collected(ctx, organization, slices.Collect(maps.Keys(seen)))
	if err != nil {
		return err
	}
	var teller *uuid.UUID
	if by != uuid.Nil {
		teller = &by
	}
	for id, is := range seen {
		if collected[id] {
			continue
		}
		if _, err := s.sawServer(ctx, organization, id, is, teller); err != nil {
			return err
		}
	}
	return nil
}

// Servers are the servers that answer for some instances, and all other instances of the
// organization with the same ones, or with copies of them.
func (s *Store) Servers(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]SeenServer, error) {
	rows, err := statement.All[seenRow](ctx, s.db, "read which servers answer", serversNearSQL, organization, statement.IDs(instances))
	if err != nil {
		return nil, err
	}
	seen := make(map[uuid.UUID]SeenServer, len(rows))
	for _, row := range rows {
		seen[row.Instance] = row.seen()
	}
	return seen, nil
}
