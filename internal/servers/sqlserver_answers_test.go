package servers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
)

const slow, quick = "-- slow\nSELECT 1", "-- quick\nSELECT 1"

// asking is a session on a stub that answers one query as it should, and another one so.
func asking(t *testing.T, a tdstest.Answer) (*tdstest.Server, servers.Session) {
	t.Helper()
	stub := tdstest.Start(t, tdstest.Options{})
	stub.Answer(slow, a)
	stub.Answer(quick, tdstest.Answer{Rows: [][]any{{int64(1)}}})
	s, err := openSQLServer(t, new(servers.Reach), stub, "encrypt=disable", "")
	if err != nil {
		t.Fatal(err)
	}
	return stub, s
}

// goesOn says whether the session can be asked again.
func goesOn(t *testing.T, s servers.Session) bool {
	t.Helper()
	row, err := servers.Row(t.Context(), s, 1, quick)
	return err == nil && row[0] == "1" && !s.Closed()
}

// TestSQLServerRefusesAQuery: the result is its number and a reason, and the session continues.
func TestSQLServerRefusesAQuery(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		refused tdstest.Error
		code    string
		reason  servers.Reason
	}{
		{tdstest.NotForSelect, "error 229", servers.Denied},
		{tdstest.NoServerState, "error 300", servers.Denied},
		{tdstest.NoDatabaseState, "error 262", servers.Denied},
		{tdstest.Error{Number: 371, Text: "hunter2"}, "error 371", servers.Denied},
		{tdstest.Error{Number: 916, Text: "hunter2"}, "error 916", servers.Denied},
		{tdstest.NoSuchObject, "error 208", servers.Absent},
		{tdstest.NoSuchColumn, "error 207", servers.Absent},
		{tdstest.LockTimeout, "error 1222", servers.TimedOut},
		{tdstest.Error{Number: 1205, Text: "hunter2"}, "error 1205", servers.TimedOut},
		{tdstest.Offline, "error 942", servers.Failed},
		{tdstest.Error{Number: 245, Text: "Conversion failed when converting 'hunter2'"}, "error 245", servers.Failed},
	} {
		_, s := asking(t, tdstest.Answer{Rows: [][]any{{int64(5)}, {int64(6)}}, Error: &test.refused})
		seen := 0
		err := s.Each(t.Context(), servers.Statement{Columns: 1, Text: slow}, func([][]byte) error { seen++; return nil })
		var refusal *servers.Refusal
		if !errors.As(err, &refusal) || refusal.Engine != fleet.SQLServer || refusal.Code != test.code || refusal.Reason != test.reason || seen != 2 {
			t.Errorf("%d: %+v after %d rows", test.refused.Number, err, seen)
		}
		if strings.Contains(err.Error(), "hunter2") || !goesOn(t, s) {
			t.Errorf("%d: %v, and the session is over: %t", test.refused.Number, err, s.Closed())
		}
	}
}

// TestASQLServerThatStalls in the middle of rows gets an attention. A server that confirms it
// is used again; one that does not loses the connection.
func TestASQLServerThatStalls(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]tdstest.Fault{"confirms": tdstest.Stall, "deaf": tdstest.Deaf} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stub, s := asking(t, tdstest.Answer{Rows: [][]any{{int64(5)}, {int64(6)}}, Then: then})
			s.SetTimeout(20 * time.Millisecond)
			began := time.Now()
			err := s.Each(t.Context(), servers.Statement{Columns: 1, Text: slow}, func([][]byte) error { return nil })
			var refusal *servers.Refusal
			if !errors.As(err, &refusal) || refusal.Reason != servers.TimedOut {
				t.Errorf("got %v", err)
			}
			if waited := time.Since(began); waited > 4*time.Second { // the driver would wait for 5, twice
				t.Errorf("it was waited for for %s", waited)
			}
			s.SetTimeout(time.Minute)
			if confirmed := stub.Attentions() > 0; confirmed != (then == tdstest.Stall) || goesOn(t, s) != confirmed || s.Closed() == confirmed {
				t.Errorf("confirmed: %t, closed: %t", confirmed, s.Closed())
			}
		})
	}
}

// TestAnAbandonedQueryDoesNotWaitForASQLServer: nobody wants its answer any more.
func TestAnAbandonedQueryDoesNotWaitForASQLServer(t *testing.T) {
	t.Parallel()
	stub, s := asking(t, tdstest.Answer{Rows: [][]any{{int64(5)}, {int64(6)}}, Then: tdstest.Stall})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := s.Each(ctx, servers.Statement{Columns: 1, Text: slow}, func([][]byte) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	enough := errors.New("enough")
	if err := s.Each(t.Context(), servers.Statement{Columns: 1, Text: slow}, func([][]byte) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("enough: %v", err)
	}
	if stub.Attentions() < 2 || !goesOn(t, s) {
		t.Errorf("%d attentions, closed: %t", stub.Attentions(), s.Closed())
	}
}

// TestASQLServerThatBreaksOff in the middle of rows: the rows read so far are not the answer.
func TestASQLServerThatBreaksOff(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]tdstest.Fault{"cut": tdstest.Cut, "another protocol": tdstest.Nonsense} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s := asking(t, tdstest.Answer{Rows: [][]any{{int64(5)}, {int64(6)}}, Then: then})
			err := s.Each(t.Context(), servers.Statement{Columns: 1, Text: slow}, func([][]byte) error { return nil })
			var refusal *servers.Refusal
			if err == nil || errors.As(err, &refusal) || !s.Closed() || goesOn(t, s) {
				t.Errorf("%v, closed: %t", err, s.Closed())
			}
			s.Close(t.Context())
		})
	}
}
