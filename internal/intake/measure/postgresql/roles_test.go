package postgresql

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

// countingRoles is a session that notes which roles' names it was asked for.
type countingRoles struct {
	*serverstest.Session
	asked []string
}

func (c *countingRoles) Each(ctx context.Context, query servers.Statement, take func([][]byte) error) error {
	if _, list, ok := strings.Cut(query.Text, "'{"); ok && strings.HasPrefix(query.Text, serverstest.FirstLine(rolesQuery)) {
		list, _, _ = strings.Cut(list, "}'")
		c.asked = append(c.asked, list)
	}
	return c.Session.Each(ctx, query, take)
}

// TestRolesOfStatementsAreNamed: each role is looked up once, and a dropped one has no name
// (F24).
func TestRolesOfStatementsAreNamed(t *testing.T) {
	t.Parallel()
	session := &countingRoles{Session: serverstest.New("app")}
	session.On(rolesQuery, []string{"10", "app owner"}, []string{"16384", "two\nlines"})
	line := measure.NewLine(session, nil)
	r := &reader{now: time.Now}
	list := &measure.List{}
	for _, role := range []uint32{10, 16384, 99} {
		for _, top := range []bool{true, false} {
			list.Entries = append(list.Entries, measure.Entry{Statement: statement(-7, role, top)})
		}
	}
	for range 2 {
		r.readRoles(t.Context(), line, list)
	}
	if !slices.Equal(session.asked, []string{"10,16384,99"}) {
		t.Errorf("asked for %q", session.asked)
	}
	if got := []string{r.Role(statement(3, 10, true)), r.Role(statement(3, 10, false)), r.Role(statement(3, 99, true))}; !slices.Equal(got, []string{"app owner", "app owner", ""}) {
		t.Errorf("they are %q", got)
	}
	if name := r.Role(statement(3, 16384, true)); name == "" || strings.Contains(name, "\n") {
		t.Errorf("a name of two lines is %q", name)
	}
	if name := r.Name(statement(-7, 10, true)); name != "-7/10" {
		t.Errorf("the statement is known as %s", name)
	}
}
