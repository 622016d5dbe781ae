package pgtest

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Application is a program that writes to a table over its only connection all the time, and
// looks at what is set in its session, as a program behind a pooler does that shares its
// connections with others.
type Application struct {
	conn   *pgx.Conn
	table  string
	before map[string]string
	stop   context.CancelFunc
	ended  chan error
}

// StartApplication connects to url, where a table with one column of integers is.
func StartApplication(t testing.TB, url, table string) *Application {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	a := &Application{conn: conn, table: pgx.Identifier{table}.Sanitize(), ended: make(chan error, 1)}
	if a.before, err = a.work(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	a.stop = stop
	go func() {
		turn := time.NewTicker(5 * time.Millisecond) // the machine is not this program's alone
		defer turn.Stop()
		for ctx.Err() == nil {
			if err := a.compare(); err != nil {
				a.ended <- err
				return
			}
			<-turn.C
		}
		a.ended <- a.compare()
	}()
	return a
}

// End holds that the program could write all the time, and that its session is what it was.
func (a *Application) End(t testing.TB) {
	t.Helper()
	a.stop()
	if err := <-a.ended; err != nil {
		t.Errorf("the application: %v", err)
	}
}

func (a *Application) compare() error {
	now, err := a.work(context.Background())
	if err == nil && !maps.Equal(now, a.before) {
		err = fmt.Errorf("its session is %v, and was %v", now, a.before)
	}
	return err
}

// work writes, and returns all that is set in the session.
func (a *Application) work(ctx context.Context) (map[string]string, error) {
	if _, err := a.conn.Exec(ctx, `INSERT INTO `+a.table+` VALUES (1)`); err != nil {
		return nil, err
	}
	rows, err := a.conn.Query(ctx, `SELECT name, setting FROM pg_settings WHERE source IN ('client', 'session')
		UNION ALL SELECT 'search path', current_setting('search_path')
		UNION ALL SELECT 'statement timeout', current_setting('statement_timeout')
		UNION ALL SELECT 'prepared statements', count(*)::text FROM pg_prepared_statements
		UNION ALL SELECT 'advisory locks', count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
		UNION ALL SELECT 'channels', count(*)::text FROM pg_listening_channels()`)
	if err != nil {
		return nil, err
	}
	set := map[string]string{}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error { set[name] = value; return nil })
	return set, err
}
