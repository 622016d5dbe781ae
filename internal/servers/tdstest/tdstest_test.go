package tdstest_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"muster/internal/servers/tdstest"
)

func open(t *testing.T, s *tdstest.Server, change func(*msdsn.Config)) *sql.DB {
	t.Helper()
	config := msdsn.Config{
		Host: s.Addr().IP.String(), Port: uint64(s.Addr().Port), User: "watcher", Password: "secret",
		Encryption: msdsn.EncryptionDisabled, Protocols: []string{"tcp"},
	}
	if change != nil {
		change(&config)
	}
	db := sql.OpenDB(mssql.NewConnectorConfig(config))
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestTheRealDriverReadsEveryType in batches and by sp_executesql, in more packets than one.
func TestTheRealDriverReadsEveryType(t *testing.T) {
	t.Parallel()
	s := tdstest.Start(t, tdstest.Options{User: "watcher", Password: "secret"})
	long := strings.Repeat("ß😀", 9000)
	s.Answer("-- everything", tdstest.Answer{Rows: [][]any{
		{nil, nil, nil, nil, nil},
		{int64(-5), 0.25, true, []byte{0, 255}, "it's [a] \"name\" 😀"},
		{int64(1) << 62, -1e300, false, []byte{}, long},
		{int64(0), 0.0, false, []byte{1}, ""},
	}})
	db := open(t, s, nil)
	for range 2 {
		for _, args := range [][]any{nil, {sql.Named("from", 5)}} {
			rows, err := db.QueryContext(t.Context(), "-- everything\nSELECT 1", args...)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var texts []string
			for rows.Next() {
				var n sql.NullInt64
				var f sql.NullFloat64
				var b sql.NullBool
				var binary []byte
				var text sql.NullString
				if err := rows.Scan(&n, &f, &b, &binary, &text); err != nil {
					t.Fatal(err)
				}
				texts = append(texts, text.String)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			if len(texts) != 4 || texts[1] != "it's [a] \"name\" 😀" || texts[2] != long {
				t.Errorf("with %d parameters: %d rows, %.60q", len(args), len(texts), texts)
			}
		}
	}
	if got := s.Queries(); len(got) != 4 || got[3].Text != "-- everything\nSELECT 1" || got[0].Database != "master" {
		t.Errorf("%+v", got)
	}
}

// TestTheRealDriverIsRefused with the numbers that SQL Server has for it.
func TestTheRealDriverIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options tdstest.Options
		change  func(*msdsn.Config)
		want    []int32
	}{
		"wrong password":   {change: func(c *msdsn.Config) { c.Password = "Secret" }, want: []int32{18456}},
		"wrong user":       {change: func(c *msdsn.Config) { c.User = "sa" }, want: []int32{18456}},
		"unknown database": {change: func(c *msdsn.Config) { c.Database = "app" }, want: []int32{4060, 18456}},
		"locked":           {options: tdstest.Options{Refuse: &tdstest.LoginLocked}, want: []int32{18486}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.options.User, test.options.Password = "watcher", "secret"
			s := tdstest.Start(t, test.options)
			var refused mssql.Error
			if err := open(t, s, test.change).PingContext(t.Context()); !errors.As(err, &refused) || len(refused.All) != len(test.want) {
				t.Fatalf("%v", err)
			}
			for i, want := range test.want {
				if refused.All[i].Number != want {
					t.Errorf("error %d, want %d", refused.All[i].Number, want)
				}
			}
		})
	}
}

// TestAnAttentionIsConfirmed in the middle of an answer, and the session goes on.
func TestAnAttentionIsConfirmed(t *testing.T) {
	t.Parallel()
	s := tdstest.Start(t, tdstest.Options{User: "watcher", Password: "secret"})
	s.Answer("-- slow", tdstest.Answer{Rows: [][]any{{1}, {2}}, Then: tdstest.Stall})
	s.Answer("-- quick", tdstest.Answer{Rows: [][]any{{3}}})
	conn, err := open(t, s, nil).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := conn.QueryContext(ctx, "-- slow\n")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 2 {
			cancel()
		}
	}
	if err := rows.Err(); !errors.Is(err, context.Canceled) || s.Attentions() != 1 {
		t.Fatalf("%v, %d attentions", err, s.Attentions())
	}
	var n int
	if err := conn.QueryRowContext(t.Context(), "-- quick\n").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d, %v", n, err)
	}
	cancel()
}
