package postgres

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Roles of the private server.
const (
	ownerRole   = "postgres"       // the server's
	musterRole  = "muster"         // owns the database of the same name
	monitorRole = "muster_monitor" // reads statistics, for the server to be watched by Muster
)

const databaseName = "muster"

// password of one role, derived from the secret: so only one file has to be kept, and every
// process derives the same.
func password(secret []byte, role string) string {
	derived, err := hkdf.Expand(sha256.New, secret, "muster private server password "+role, 24)
	if err != nil {
		panic(err) // only for more than 255 hashes of output, and 24 bytes are less than one
	}
	return hex.EncodeToString(derived)
}

// readSecret reads the server's secret, and makes it for a server that is about
// to be. The caller holds start.lock.
func (h *home) readSecret() ([]byte, error) {
	path := filepath.Join(h.dir, "secret")
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !exists(h.cluster()) {
		made := make([]byte, 32)
		rand.Read(made)
		if err := writeWhole(path, hex.EncodeToString(made)+"\n"); err != nil {
			return nil, fmt.Errorf("keep the server's secret: %w", err)
		}
		return made, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("the private server in %s is another user's: run muster as that user: %w", h.dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read the server's secret: %w", err)
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(content)))
	if err != nil || len(secret) != 32 {
		return nil, fmt.Errorf("%s does not hold 64 hexadecimal characters: restore it from a backup", path)
	}
	return secret, nil
}

// url of a role in a database, over the socket.
func (s *Server) url(role, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(role, password(s.secret, role)), Path: "/" + database}
	query := url.Values{"host": {s.socketDir}, "port": {privatePort}, "sslmode": {"disable"}}
	if role != monitorRole { // what connects as that overrules the environment by itself
		for name, value := range neutral {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// privatePort names the socket; private.conf has it too.
const privatePort = "5432"

// neutral overrules what the driver would take from PGOPTIONS and its like,
// which are meant for other servers. PGSERVICE it reads whatever a URL says.
var neutral = map[string]string{
	"options": "", "target_session_attrs": "any", "require_auth": "", "channel_binding": "prefer", "sslnegotiation": "postgres",
}

// ensureRoles makes the roles, the database and the extension that are missing. At
// every start, so that a death halfway is mended.
func (s *Server) ensureRoles(ctx context.Context) error {
	return s.inTurn(ctx, func(conn *pgx.Conn) error {
		if err := s.ensureRole(ctx, conn, musterRole); err != nil {
			return err
		}
		if err := ensureDatabase(ctx, conn, databaseName); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "REVOKE ALL ON DATABASE "+databaseName+" FROM PUBLIC"); err != nil {
			return fmt.Errorf("close the database to others: %w", err)
		}
		return ensureStatistics(ctx, conn)
	})
}

// statisticsExtension counts the cost of statements, for the monitoring of the server.
const statisticsExtension = "pg_stat_statements"

// ensureStatistics creates the extension of a server that has its library loaded; one that an
// older Muster started has not. It is kept out of Muster's own database, because a role that
// may not create extensions has to be able to restore its dumps.
func ensureStatistics(ctx context.Context, conn *pgx.Conn) error {
	var offered bool
	err := conn.QueryRow(ctx, `SELECT current_setting($1 || '.max', true) IS NOT NULL AND
		EXISTS (SELECT FROM pg_available_extensions WHERE name = $1)`, statisticsExtension).Scan(&offered)
	if err != nil {
		return fmt.Errorf("ask whether the server counts statements: %w", err)
	}
	if !offered {
		return nil
	}
	if _, err := conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS "+statisticsExtension+" SCHEMA public"); err != nil {
		return fmt.Errorf("have the server count statements: %w", err)
	}
	return nil
}

// DatabaseURL is a connection string for a further database of the server,
// which is made when first asked for. Muster's own role owns it, and every role
// of the server may connect.
func (s *Server) DatabaseURL(ctx context.Context, database string) (string, error) {
	err := s.asOwner(ctx, func(conn *pgx.Conn) error { return ensureDatabase(ctx, conn, database) })
	if err != nil {
		return "", err
	}
	return s.url(musterRole, database), nil
}

func ensureDatabase(ctx context.Context, conn *pgx.Conn, database string) error {
	return ensure(ctx, conn, "the database", `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, database,
		"CREATE DATABASE "+pgx.Identifier{database}.Sanitize()+" OWNER "+musterRole)
}

// ensure makes what is not found by its name. Another process may be making it at this
// moment, or a server process whose client was killed halfway.
func ensure(ctx context.Context, conn *pgx.Conn, what, find, name, create string) error {
	var found bool
	if err := conn.QueryRow(ctx, find, name).Scan(&found); err != nil {
		return fmt.Errorf("look for %s: %w", what, err)
	}
	if found {
		return nil
	}
	if _, err := conn.Exec(ctx, create); err != nil && !madeMeanwhile(err) {
		return fmt.Errorf("make %s: %w", what, err)
	}
	return nil
}

// madeMeanwhile says that another process has just created what we wanted to create.
func madeMeanwhile(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && slices.Contains([]string{
		"42P04", // duplicate_database
		"42710", // duplicate_object: a role
		"23505", // unique_violation: it committed while we waited for it
	}, refused.Code)
}

// MonitorURL is a connection string for a role that reads the server's
// statistics and nothing else, so that Muster can watch its own server. The
// role is made when first asked for.
func (s *Server) MonitorURL(ctx context.Context) (string, error) {
	err := s.inTurn(ctx, func(conn *pgx.Conn) error {
		if err := s.ensureRole(ctx, conn, monitorRole); err != nil {
			return err
		}
		for _, grant := range []string{
			"GRANT pg_monitor TO " + monitorRole,
			"GRANT CONNECT ON DATABASE " + databaseName + " TO " + monitorRole,
		} {
			if _, err := conn.Exec(ctx, grant); err != nil {
				return fmt.Errorf("%s: %w", grant, err)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return s.url(monitorRole, databaseName), nil
}

// inTurn is asOwner while no other process changes roles and privileges: CREATE ROLE
// knows no IF NOT EXISTS, and of two that grant and revoke on one database at once,
// one ends with "tuple concurrently updated".
func (s *Server) inTurn(ctx context.Context, do func(*pgx.Conn) error) error {
	return s.asOwner(ctx, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, MigrationLockID); err != nil {
			return fmt.Errorf("take turns with other processes: %w", err)
		}
		return do(conn)
	})
}

func (s *Server) ensureRole(ctx context.Context, conn *pgx.Conn, role string) error {
	// Hexadecimal: nothing in it to quote. The server keeps statements of this
	// kind out of its log unless they fail.
	return ensure(ctx, conn, "role "+role, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)`, role,
		fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", role, password(s.secret, role)))
}

// asOwner does it over a connection of the server's owner.
func (s *Server) asOwner(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.url(ownerRole, "postgres"))
	if err != nil {
		return fmt.Errorf("connect to the private server: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	return do(conn)
}
