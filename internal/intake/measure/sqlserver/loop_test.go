package sqlserver

import (
	"testing"

	"muster/domain/fleet"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
)

// TestTheLoopSurvivesEveryFault: a SQL Server that stalls, is deaf, is cut, speaks nonsense, refuses a login or
// says nothing at all.
func TestTheLoopSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	target := func(t *testing.T, s *tdstest.Server) servers.Target {
		t.Helper()
		to, err := new(servers.Reach).Target(fleet.SQLServer, s.DSN("encrypt=disable"))
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	sessions := tdstest.Answer{Rows: ofNobody([]row{{5, "idle", "", 1}})}
	well := tdstest.Answer{Rows: []row{{3, 15, 1, 1, "[watcher]", "[dbo]", 0}}}
	for name, fault := range map[string]tdstest.Fault{"stalls": tdstest.Stall, "is deaf": tdstest.Deaf, "is cut": tdstest.Cut, "makes no sense": tdstest.Nonsense} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.Answer(query("sessions"), sessions)
			measuretest.Loop(t, Engine(), target(t, f.Server), measuretest.Trouble{
				Begin: func() { f.Answer(query("server"), tdstest.Answer{Rows: well.Rows, Then: fault}) },
				Over:  func() { f.Answer(query("server"), well) }, Reason: "reason=",
			})
		})
	}
	for name, test := range map[string]struct {
		o      tdstest.Options
		reason string
	}{
		"18456":          {tdstest.Options{Refuse: &tdstest.LoginFailed}, `part=connection reason="authentication: `},
		"says nothing":   {tdstest.Options{Silent: true}, `part=connection reason="timeout: `},
		"another server": {tdstest.Options{Banner: "SSH-2.0-OpenSSH_9.2\r\n"}, `part=connection reason="database: `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.Answer(query("sessions"), sessions)
			elsewhere := target(t, tdstest.Start(t, test.o))
			measuretest.Loop(t, Engine(), target(t, f.Server), measuretest.Trouble{Begin: f.CutAll, Over: func() {}, Elsewhere: &elsewhere, Reason: test.reason})
		})
	}
}
