package postgresql

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"muster/internal/measurements/backups"
	"muster/internal/measurements/replication"
	"muster/internal/testing/pgtest"
)

// sending has the server send what a client of the replication protocol asks for, until the test ends.
func (r *replica) sending(name, command string) {
	r.t.Helper()
	config, err := pgconn.ParseConfig(r.TCPURL(pgtest.Superuser, "postgres"))
	if err != nil {
		r.t.Fatal(err)
	}
	config.RuntimeParams["replication"], config.RuntimeParams["application_name"] = "true", name
	conn, err := pgconn.ConnectConfig(r.t.Context(), config)
	if err != nil {
		r.t.Fatal(err)
	}
	raw, err := conn.Hijack()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = raw.Conn.Close() })
	raw.Frontend.Send(&pgproto3.Query{String: command})
	if err := raw.Frontend.Flush(); err != nil {
		r.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, raw.Conn) }() // ends with the connection
}

// TestABaseBackupIsNotCountedAsAStandby: while one is taken, with the WAL beside it as pg_basebackup does, the
// primary's followers, the lag and the picture are those of its standby, and the backup is not missed
// afterwards.
func TestABaseBackupIsNotCountedAsAStandby(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			options := pgtest.Options{Major: major, Settings: map[string]string{"full_page_writes": "on", "wal_keep_size": "256MB"}}
			first := pgtest.Cluster(t, options)
			pgtest.Connect(t, first.Superuser()).MustExec(`CREATE ROLE watcher LOGIN; GRANT pg_monitor TO watcher; CREATE TABLE orders (id int)`)
			pgtest.Standby(t, first, options)
			r := newReplica(t, first)
			settle := func() {
				r.admin.MustExec(`INSERT INTO orders VALUES (1)`)
				r.admin.MustExec(`SELECT pg_switch_wal()`) // writes the commit, which is asynchronous
				r.until(`SELECT count(*) = 1 AND coalesce(bool_and(replay_lsn = pg_current_wal_lsn()), false) FROM pg_stat_replication`)
			}
			settle()
			followers := func() string {
				s := r.look()
				var all []string
				for _, p := range s.Peers {
					all = append(all, fmt.Sprintf("%s %s %s", p.Name, p.State, p.Condition))
				}
				s.Instance = [16]byte{15: 1}
				picture := replication.PictureOf(s.Instance, []replication.Kept{{State: *s}}, s.At)
				return fmt.Sprintf("%s; %d drawn", strings.Join(all, ", "), len(picture.Edges))
			}
			const want = "standby streaming works; 1 drawn"
			if got := followers(); got != want {
				t.Fatalf("before: %s", got)
			}
			for _, name := range []string{"pg_basebackup", "barman_streaming_backup"} {
				t.Run(name, func(t *testing.T) {
					during := &replica{t: t, Server: first, admin: r.admin}
					takes := `BASE_BACKUP (LABEL 'nightly', CHECKPOINT 'fast', MAX_RATE 32)`
					if major < 15 {
						takes = `BASE_BACKUP LABEL 'nightly' FAST MAX_RATE 32`
					}
					during.sending(name, takes)
					r.until(`SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'backup'`)
					var lsn string
					if err := r.admin.Get(&lsn, `SELECT pg_current_wal_flush_lsn()::text`); err != nil {
						t.Fatal(err)
					}
					during.sending(name, `START_REPLICATION PHYSICAL `+lsn)
					r.until(`SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND application_name = '` + name + `'`)
					if got := followers(); got != want {
						t.Errorf("meanwhile: %s", got)
					}
					if l, err := r.read.Backups(t.Context(), r.line, r.read.now()); err != nil || len(l.Backups) != 0 || l.Condition != backups.Off {
						t.Errorf("what does not run to its end is no backup: %+v, %v", l, err)
					}
				})
				settle()
				if got := followers(); got != want {
					t.Errorf("after: %s", got)
				}
			}
		})
	}
}
