package serverstest_test

import (
	"errors"
	"testing"

	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

var _ servers.Session = (*serverstest.Session)(nil)

func TestAnswers(t *testing.T) {
	t.Parallel()
	s := serverstest.New("app")
	s.On("-- two\nSELECT a, b", []string{"1", serverstest.Null})
	row, err := servers.Row(t.Context(), s, 2, "\n-- two\nSELECT a, b")
	if err != nil || row[0] != "1" || row[1] != "" {
		t.Errorf("got %q, %v", row, err)
	}
	if _, err := servers.Row(t.Context(), s, 1, "-- two"); err == nil {
		t.Error("a row of two is taken for one of one")
	}
	if _, err := servers.Row(t.Context(), s, 1, "-- three"); err == nil {
		t.Error("a query that nobody answers has an answer")
	}
	away := errors.New("away")
	s.Fail("-- three", away)
	if _, err := servers.Row(t.Context(), s, 1, "-- three"); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
}
