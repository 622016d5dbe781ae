package monitor

import (
	"testing"

	"github.com/google/uuid"

	"muster/internal/assessment"
	"muster/internal/testing/pgtest"
)

// C29. The server's identity is read on each new connection. If it is another server than
// before, this is reported, and it is assessed at once.
func TestTheIdentityIsReadOnEachConnection(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	instance := s.register(pgtest.Watched(t).TCPURL(pgtest.Superuser, "postgres"))
	s.db.MustExec(`UPDATE assessment_targets SET next_assessment_at = now() + interval '6 hours'`)
	one := s.measure(instance)
	kept := func() assessment.SeenServer {
		t.Helper()
		if r := s.round(one); r.err != nil {
			t.Fatal(r.err)
		}
		all, err := s.facts.Servers(t.Context(), s.organization, []uuid.UUID{instance})
		if err != nil {
			t.Fatal(err)
		}
		return all[instance]
	}
	due := func() (due bool) {
		t.Helper()
		if err := s.db.Get(&due, `SELECT next_assessment_at <= now() FROM assessment_targets WHERE instance_id = $1`, instance); err != nil {
			t.Fatal(err)
		}
		return due
	}
	if is := kept(); is.System == "" || is.Process == "" || is.Role != "primary" || is.MovedAt != nil || due() {
		t.Errorf("it is %+v, due: %t", is, due())
	}
	one.Close(t.Context())
	if is := kept(); is.MovedAt != nil || due() {
		t.Errorf("the same answers again: %+v, due: %t", is, due())
	}
	s.db.MustExec(`UPDATE server_identities SET system_id = '1'`)
	if is := kept(); is.System != "1" {
		t.Errorf("an open connection was asked again: %+v", is)
	}
	one.Close(t.Context())
	if is := kept(); is.System == "1" || is.MovedAt == nil || !due() {
		t.Errorf("another one answers: %+v, due: %t", is, due())
	}
}
