package servers

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"
)

const (
	// systemSQL names a cluster from its initdb on; its replicas have the same name.
	// Everybody may run it, unless an administrator took that from them.
	systemSQL = `SELECT system_identifier::text FROM pg_catalog.pg_control_system()`
	// databaseSQL names a database of a cluster for as long as it is there, and on its
	// replicas: another one may have its name, and none its number.
	databaseSQL = `SELECT oid::text FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()`
	// startedSQL tells servers apart that do not say more: everybody may ask, to the
	// microsecond.
	startedSQL = `SELECT extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text`
)

// insufficientPrivilege is the SQLSTATE of what a role may not do.
const insufficientPrivilege = "42501"

// OwnServer is the PostgreSQL that Muster itself runs on, as it can be recognized
// at the other end of a connection.
type OwnServer struct {
	db     sqlx.QueryerContext
	system string // empty: our role may not read it
	number string // of Muster's own database
}

// ReadOwnServer asks the server behind db who it is.
func ReadOwnServer(ctx context.Context, db sqlx.QueryerContext) (*OwnServer, error) {
	o := &OwnServer{db: db}
	err := sqlx.GetContext(ctx, db, &o.system, systemSQL)
	var refused *pgconn.PgError
	if err != nil && (!errors.As(err, &refused) || refused.Code != insufficientPrivilege) {
		return nil, fmt.Errorf("ask the database which server it is on: %w", err)
	}
	if err := sqlx.GetContext(ctx, db, &o.number, databaseSQL); err != nil {
		return nil, fmt.Errorf("ask the database which one it is: %w", err)
	}
	return o, nil
}

// answers says whether it is the server behind a connection, or a replica of it.
// Where one of the two does not name its cluster, the same server is known by the
// moment it was started, and a replica is not recognized.
func (o *OwnServer) answers(ctx context.Context, s *postgresSession) (bool, error) {
	if o.system != "" {
		system, err := Row(ctx, s, 1, systemSQL)
		if err == nil {
			return system[0] == o.system, nil
		}
		if !is[*Refusal](err) {
			return false, err
		}
	}
	theirs, err := Row(ctx, s, 1, startedSQL)
	if err != nil {
		return false, err
	}
	var ours string
	if err := sqlx.GetContext(ctx, o.db, &ours, startedSQL); err != nil {
		return false, fmt.Errorf("ask our own database since when it runs: %w", err)
	}
	return theirs[0] == ours, nil
}

// KeepsMuster says whether a session is on Muster's own database: by the cluster and by the
// database's number in it, and not by a chosen name. Only the installation itself monitors its
// server, so no other target is that database.
func (t Target) KeepsMuster(ctx context.Context, s Session) (bool, error) {
	postgres, ok := s.(*postgresSession)
	if !ok || !t.own || t.reach == nil || t.reach.Own == nil {
		return false, nil
	}
	ours, err := t.reach.Own.answers(ctx, postgres)
	if err != nil || !ours {
		return false, err
	}
	number, err := Row(ctx, postgres, 1, databaseSQL)
	if err != nil {
		return false, err
	}
	return number[0] == t.reach.Own.number, nil
}
