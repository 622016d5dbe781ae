package postgres

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"muster/internal/networks/multihost"
	"muster/internal/postgres/cluster"
	"muster/internal/postgres/statement"
)

// DumpDatabase is a database as PostgreSQL's own client programs reach it.
type DumpDatabase struct {
	URL     string
	Private bool // on the private server: nothing of the environment counts
}

// ToolError says why a client program failed, in its own words.
type ToolError struct {
	Program string
	Said    string
	Err     error
}

func (e *ToolError) Error() string {
	if e.Said == "" { // it was stopped
		return fmt.Sprintf("%s: %v", e.Program, e.Err)
	}
	return fmt.Sprintf("%s: %v: %s", e.Program, e.Err, e.Said)
}

func (e *ToolError) Unwrap() error { return e.Err }

// ServerMajor is the major version of the server behind db.
func ServerMajor(ctx context.Context, db sqlx.QueryerContext) (int, error) {
	number, err := statement.One[int](ctx, db, "ask the database for its version", `SELECT current_setting('server_version_num')::int`)
	return number / 10000, err
}

// dumpLockTimeout is how long pg_dump waits for the locks of all tables, in ms.
const dumpLockTimeout = "60000"

// Dump writes what one exported snapshot of a database shows to a new file, in
// pg_dump's custom format, and flushes it to the disk. It returns the major
// version of the program that wrote it: one of at least that version reads it.
// Errors: *cluster.NoClientError, *ToolError.
func Dump(ctx context.Context, db DumpDatabase, serverMajor int, snapshot, path string) (major int, err error) {
	program, major, err := cluster.FindClient(ctx, "pg_dump", serverMajor)
	if err != nil {
		return 0, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // pg_dump's own would follow the umask
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return 0, fmt.Errorf("make the dump's file: %w", err)
	}
	// Owners and grants are the other server's business. A session that waits to alter a table
	// that the caller has locked would make pg_dump, behind it, wait forever.
	cmd, err := db.tool(ctx, program, "--format=custom", "--snapshot="+snapshot, "--file="+path, "--lock-wait-timeout="+dumpLockTimeout,
		"--no-owner", "--no-privileges", "--no-tablespaces", "--no-publications", "--no-subscriptions", "--no-security-labels")
	if err != nil {
		return 0, err
	}
	return major, runTool(cmd)
}

// Restore loads what Dump wrote into a database, all of it or nothing. It reads
// the dump from a pipe: if this process dies halfway, the dump ends there and
// the program gives up. Errors: *cluster.NoClientError, *ToolError.
func Restore(ctx context.Context, db DumpDatabase, serverMajor int, dump io.Reader) error {
	program, _, err := cluster.FindClient(ctx, "pg_restore", serverMajor)
	if err != nil {
		return err
	}
	cmd, err := db.tool(ctx, program, "--format=custom", "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
	if err != nil {
		return err
	}
	cmd.Stdin = dump
	return runTool(cmd)
}

func runTool(cmd *exec.Cmd) error {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	endWithUs(cmd)
	runtime.LockOSThread() // endWithUs
	defer runtime.UnlockOSThread()
	if err := cmd.Run(); err != nil {
		return &ToolError{Program: cmd.Path, Said: strings.Join(strings.Fields(said.String()), " "), Err: err}
	}
	return nil
}

// tool is a client program that connects to the database. Everybody on the machine can read its
// arguments, so the password is in the environment.
func (db DumpDatabase) tool(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	address, password, err := libpq(db.URL)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, append(args, "--no-password", "--dbname="+address)...)
	if db.Private {
		cmd.Env = cluster.Environment()
	} else {
		cmd.Env = append(slices.DeleteFunc(os.Environ(), misleads), "LC_ALL=C")
	}
	if password != "" {
		cmd.Env = append(cmd.Env, "PGPASSWORD="+password)
	}
	return cmd, nil
}

// driverVariables are the variables of libpq that lead the driver to its database, too.
// PGHOSTADDR, for example, is not one of them: it would send pg_restore to another server than
// the one that was found empty.
var driverVariables = []string{
	"PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE",
	"PGSSLMODE", "PGSSLKEY", "PGSSLCERT", "PGSSLROOTCERT", "PGSSLSNI", "PGSSLNEGOTIATION",
	"PGCONNECT_TIMEOUT", "PGTARGETSESSIONATTRS", "PGCHANNELBINDING", "PGREQUIREAUTH",
}

// misleads says whether a client program is not to see a variable: it would do
// something else than the driver, or the variable is a secret of ours.
func misleads(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	return strings.HasPrefix(name, "MUSTER_") || strings.HasPrefix(name, "PG") && !slices.Contains(driverVariables, name)
}

// libpqParameters are those of a connection string that every libpq since
// PostgreSQL 15 knows too; it refuses a string with others, which the driver
// takes for settings of the session or of its pool.
var libpqParameters = []string{
	"host", "port", "user", "dbname", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslsni", "connect_timeout",
	"target_session_attrs", "channel_binding", "krbsrvname", "passfile", "service", "servicefile",
}

// libpq is a connection string as libpq takes it, without its password.
func libpq(address string) (without, password string, err error) {
	u, err := multihost.Parse(address)
	if err != nil {
		return "", "", fmt.Errorf("read the database URL: %w", err)
	}
	password, _ = u.User.Password()
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	if p := query.Get("password"); p != "" {
		password = p
	}
	if name := query.Get("database"); name != "" { // the driver's name for it
		query.Set("dbname", name)
	}
	for name := range query {
		if !slices.Contains(libpqParameters, name) {
			query.Del(name)
		}
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // libpq knows no + for a space
	return u.String(), password, nil
}
