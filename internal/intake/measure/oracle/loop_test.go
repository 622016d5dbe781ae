package oracle

import (
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/servers"
	"muster/internal/servers/tnstest"
)

// TestTheLoopSurvivesEveryFault: an Oracle that stalls, is cut or speaks nonsense in the middle of an answer,
// and a listener that refuses, hangs and resets.
func TestTheLoopSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	target := func(t *testing.T, l *tnstest.Listener) servers.Target {
		t.Helper()
		to, err := new(servers.Reach).Target(fleet.Oracle, l.DSN(""))
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	for name, fault := range map[string]tnstest.Fault{"stalls": tnstest.Stall, "is deaf": tnstest.Deaf, "is cut": tnstest.Cut, "makes no sense": tnstest.Nonsense} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := answered(t, time.Now(), 10)
			measuretest.Loop(t, Engine(), target(t, l), measuretest.Trouble{
				Begin: func() {
					l.Answer(sent(sessionsQuery), tnstest.Answer{Columns: 9, Numbers: []int{0, 3}, Rows: [][]string{{"3", "active", "", "1", "", "", "", "", ""}}, Then: fault})
				},
				Over: func() { answer(l, time.Now(), 10) }, Reason: "reason=",
			})
		})
	}
	for name, test := range map[string]struct {
		o      tnstest.Options
		reason string
	}{
		"refuses":       {tnstest.Options{Refuse: 12514}, `part=connection reason="database: `},
		"expired":       {tnstest.Options{Login: 28001}, `part=connection reason="authentication: `},
		"locked":        {tnstest.Options{Login: 28000}, `part=connection reason="authentication: `},
		"hangs":         {tnstest.Options{Silent: true}, `part=connection reason="timeout: `},
		"hangs later":   {tnstest.Options{Mute: true}, `part=connection reason="timeout: `},
		"resets":        {tnstest.Options{Reset: true}, `part=connection reason="the connection to the server was lost"`},
		"another thing": {tnstest.Options{Banner: []byte("SSH-2.0-OpenSSH_9.2\r\n")}, `part=connection reason="database: `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := answered(t, time.Now(), 10)
			elsewhere := target(t, tnstest.Start(t, test.o))
			measuretest.Loop(t, Engine(), target(t, l), measuretest.Trouble{Begin: l.CutAll, Over: func() {}, Elsewhere: &elsewhere, Reason: test.reason})
		})
	}
}
