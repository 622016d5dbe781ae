package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/agent/backuptool"
	"muster/internal/httpapi/api"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/room"
	"muster/internal/servers"
)

const withBackups = `directory: d
servers:
  - name: orders
    engine: ENGINE
    dsn: postgres://muster:${PASSWORD}@127.0.0.1:5433/postgres
    backups: `

// TestTheConfigurationOfBackups: one tool, as a command by its whole path or as a file.
func TestTheConfigurationOfBackups(t *testing.T) {
	t.Parallel()
	valid := strings.Replace(withBackups, "ENGINE", "postgresql", 1)
	c, err := read(t, valid+`{tool: pgbackrest, name: main, command: [/usr/bin/pgbackrest, info, --output=json, "--repo", 1]}`)
	must(t, err)
	if b := c.Servers[0].Backups; b == nil || b.Source != backups.PgBackRest || b.Name != "main" || strings.Join(b.Command, " ") != "/usr/bin/pgbackrest info --output=json --repo 1" {
		t.Errorf("%+v", b)
	}
	for text, want := range map[string]string{
		"{tool: veeam, file: /x}":                                "backups.tool is \"veeam\", and none of pgbackrest, barman, wal-g",
		"{tool: barman}":                                         "backups needs either command or file",
		"{tool: barman, file: /x, command: [/x]}":                "backups needs either command or file",
		"{tool: barman, file: x}":                                "backups.file is no whole path",
		"{tool: barman, command: [barman, list-backups]}":        "backups.command must begin with the whole path of a program: no shell looks for it",
		"{tool: wal-g, command: /usr/bin/wal-g, backup: [list]}": "backups",
	} {
		_, err := read(t, valid+text)
		var fault *ConfigError
		if !errors.As(err, &fault) || !slices.ContainsFunc(fault.Faults, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestABackupToolIsReadForItsServer, once the server has said which cluster it is.
func TestABackupToolIsReadForItsServer(t *testing.T) {
	t.Parallel()
	b := newBench(t, taken)
	w := b.watched[0]
	w.Backups = &backuptool.Tool{Source: backups.WALG, Command: []string{"/bin/echo", `[{"backup_name":"base_1","finish_time":"2026-11-29T02:41:00Z","system_identifier":7}]`}}
	must(t, w.identified(t.Context(), servers.Identity{System: "7"}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.readBackups(ctx) }()
	for deadline := time.Now().Add(20 * time.Second); len(b.calls) == 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		must(t, b.deliverAll())
	}
	cancel()
	<-done
	if len(b.calls) == 0 {
		t.Fatal("nothing was sent")
	}
	var sent api.SampleBatch
	must(t, json.Unmarshal([]byte(b.calls[len(b.calls)-1].body), &sent))
	looks := *sent.Backups
	if len(looks) != 1 || looks[0].Source != api.BackupSourceWALG || looks[0].Condition != api.BackupWorks || looks[0].Instance != w.ExternalID || len(*looks[0].Backups) != 1 || (*looks[0].Backups)[0].Kind != api.BackupBase {
		t.Errorf("%+v", looks)
	}
}

// TestRoomIsSentAsACollectorReadsIt: how full a server is, by the look that a collector makes.
func TestRoomIsSentAsACollectorReadsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, taken)
	w := b.watched[0]
	at := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	state := room.State{At: at, Looked: 1, Sizes: []room.Size{{Kind: room.Volume, Name: `D:\`, Used: 60, Limit: 100}, {Kind: room.Database, Name: "\x00", Used: 1}}}
	must(t, w.Record(t.Context(), measurements.Batch{Room: []room.State{state}}, nil))
	must(t, b.deliverAll())
	var sent struct{ Room []room.Sent }
	must(t, json.Unmarshal([]byte(b.calls[len(b.calls)-1].body), &sent))
	if len(sent.Room) != 1 || sent.Room[0].Server != w.ExternalID || !sent.Room[0].At.Equal(at) || sent.Room[0].Looked != 1 || len(sent.Room[0].Sizes) != 1 || sent.Room[0].Sizes[0] != state.Sizes[0] {
		t.Errorf("%+v", sent.Room)
	}
}
