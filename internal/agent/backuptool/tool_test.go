package backuptool

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/internal/measurements/backups"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

const system = "7689324913302356006"

// The outputs have the form of pgBackRest 2.59, barman 3.17 and WAL-G, with figures of ours.
const (
	fromPgBackRest = `[{"name":"main","status":{"code":0,"message":"ok"},"cipher":"none","db":[
		{"id":1,"repo-key":1,"system-id":6569239123849665679,"version":"15"},{"id":2,"repo-key":1,"system-id":7689324913302356006,"version":"16"}],
		"archive":[{"database":{"id":2,"repo-key":1},"id":"16-2","max":"000000010000000000000015","min":"000000010000000000000014"}],
		"backup":[
		{"label":"20261122-021000F","type":"full","error":false,"database":{"id":2,"repo-key":1},"timestamp":{"start":1795313400,"stop":1795315260},"info":{"size":812,"delta":812,"repository":{"delta":400,"size":400}},"prior":null,"reference":null},
		{"label":"20261122-021000F_20261129-021000I","type":"incr","error":false,"database":{"id":2,"repo-key":1},"timestamp":{"start":1795918200,"stop":1795918800},"info":{"size":820,"delta":38,"repository":{"delta":20,"size":420}},"prior":"20261122-021000F","reference":["20261122-021000F"]},
		{"label":"20261129-101000I","type":"incr","error":true,"database":{"id":2,"repo-key":1},"timestamp":{"start":1795946400,"stop":1795947000},"info":{"size":820,"delta":38}},
		{"label":"20251122-021000F","type":"full","error":false,"database":{"id":1,"repo-key":1},"timestamp":{"start":1763777400,"stop":1763779260},"info":{"size":700,"delta":700}}]}]`
	fromBarman = `{"main":{"backup_id":"20261129T021000","status":"DONE","system_id":"7689324913302356006","backup_type":"full",
		"base_backup_information":{"backup_method":"postgres","backup_size":"812 B","backup_size_bytes":812,"begin_time_timestamp":"1795918200","begin_time":"2026-11-29 02:10:00+00:00","end_time_timestamp":"1795918800","end_time":"2026-11-29 02:20:00+00:00"}},"_INFO":["x"]}`
	fromWALG = `[{"backup_name":"base_000000010000000000000002","time":"2026-11-22T02:41:00Z","wal_file_name":"000000010000000000000002","start_time":"2026-11-22T02:10:00.1Z","finish_time":"2026-11-22T02:41:00.2Z","date_fmt":"%Y","hostname":"db01","data_dir":"/d","pg_version":160004,"start_lsn":1,"finish_lsn":2,"is_permanent":false,"system_identifier":7689324913302356006,"uncompressed_size":812,"compressed_size":400},
		{"backup_name":"base_000000010000000000000008_D_000000010000000000000002","time":"2026-11-29T02:20:00Z","start_time":"2026-11-29T02:10:00Z","finish_time":"2026-11-29T02:20:00Z","pg_version":160004,"system_identifier":7689324913302356006,"uncompressed_size":38,"compressed_size":20}]`
)

// say is a tool that prints a text.
func say(source backups.Source, text string) Tool {
	return Tool{Source: source, Command: []string{"printf", "%s", text}}
}

// TestEachToolIsRead as its own format has it: what ended well, and of this cluster only.
func TestEachToolIsRead(t *testing.T) {
	t.Parallel()
	for source, c := range map[backups.Source]struct {
		output string
		want   string
	}{
		backups.PgBackRest: {fromPgBackRest, "base 2026-11-22T02:41:00Z 812 pgBackRest, differential 2026-11-29T02:20:00Z 38 pgBackRest"},
		backups.Barman:     {fromBarman, "base 2026-11-29T02:20:00Z 812 barman"},
		backups.WALG:       {fromWALG, "base 2026-11-22T02:41:00Z 400 WAL-G, differential 2026-11-29T02:20:00Z 20 WAL-G"},
	} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "backups.json")
			if err := os.WriteFile(file, []byte(c.output), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, tool := range []Tool{say(source, c.output), {Source: source, File: file}} {
				l := tool.Look(t.Context(), system, noon)
				var got []string
				for _, b := range l.Backups {
					got = append(got, strings.Join([]string{string(b.Kind), b.FinishedAt.Format(time.RFC3339), count(b.SizeBytes), b.Tool}, " "))
				}
				if l.Condition != backups.Works || l.Why != "" || strings.Join(got, ", ") != c.want || l.Source != source || !l.At.Equal(noon) {
					t.Errorf("%+v: %s", l, strings.Join(got, ", "))
				}
			}
			if l := say(source, c.output).Look(t.Context(), "42", noon); l.Condition != backups.Refused || len(l.Backups) != 0 || !strings.HasSuffix(l.Why, "and this is 42.") {
				t.Errorf("of another cluster: %+v", l)
			}
			if l := say(source, c.output).Look(t.Context(), "", noon); l.Condition != backups.Unknown || len(l.Backups) != 0 {
				t.Errorf("of a server that does not say who it is: %+v", l)
			}
		})
	}
}

func count(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// TestUnreadableOutputIsReported, and none of it is repeated.
func TestUnreadableOutputIsReported(t *testing.T) {
	t.Parallel()
	named := say(backups.PgBackRest, fromPgBackRest)
	named.Name = "other"
	for name, c := range map[string]struct {
		tool Tool
		want backups.Condition
		why  string
	}{
		"it is not there":       {Tool{Source: backups.WALG, Command: []string{"/nowhere/wal-g"}}, backups.Unknown, "wal-g cannot be read: it cannot be started."},
		"it fails":              {Tool{Source: backups.WALG, Command: []string{"sh", "-c", "echo secret >&2; exit 3"}}, backups.Unknown, "wal-g cannot be read: it ends with status 3."},
		"it says too much":      {Tool{Source: backups.WALG, Command: []string{"yes"}}, backups.Unknown, "wal-g cannot be read: its output has more than 8 MiB."},
		"no shell reads it":     {Tool{Source: backups.WALG, Command: []string{"echo", "$(id); true"}}, backups.Unknown, "wal-g says something that is not understood: it is no JSON of that tool."},
		"no file":               {Tool{Source: backups.Barman, File: "/nowhere"}, backups.Unknown, "barman cannot be read: the file cannot be opened."},
		"another stanza":        {named, backups.Unknown, "pgbackrest says something that is not understood: it has no entry of the configured name."},
		"a broken repository":   {say(backups.PgBackRest, `[{"name":"[invalid]","db":[],"backup":[],"status":{"code":99,"message":"other"}}]`), backups.Unknown, "pgbackrest does not say of which cluster its backups are."},
		"a stanza in trouble":   {say(backups.PgBackRest, `[{"name":"main","db":[{"id":1,"system-id":`+system+`}],"backup":[],"status":{"code":4,"message":"different across repos"}}]`), backups.Failing, "pgBackRest reports status 4 (different across repos)."},
		"a stanza without any":  {say(backups.PgBackRest, `[{"name":"main","db":[{"id":1,"system-id":`+system+`}],"backup":[],"status":{"code":2,"message":"no valid backups"}}]`), backups.Works, ""},
		"a backup that failed":  {say(backups.Barman, `{"main":{"status":"FAILED","system_id":"`+system+`"}}`), backups.Failing, "The newest backup of barman has not ended well."},
		"barman says no system": {say(backups.Barman, `{"main":{"status":"FAILED"}}`), backups.Unknown, "barman does not say of which cluster its backups are."},
		"no backups of WAL-G":   {say(backups.WALG, `[]`), backups.Unknown, "wal-g does not say of which cluster its backups are."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if l := c.tool.Look(t.Context(), system, noon); l.Condition != c.want || l.Why != c.why || len(l.Backups) != 0 {
				t.Errorf("%+v", l)
			}
		})
	}
}
