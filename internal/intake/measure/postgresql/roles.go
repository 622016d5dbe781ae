package postgresql

import (
	"context"
	_ "embed" // the query
	"strconv"
	"strings"

	"muster/domain/printable"
	"muster/internal/intake/measure"
	"muster/internal/servers"
)

//go:embed sql/roles.sql
var rolesQuery string

// rolesAtOnce is how many names are read in a round, and rolesKept how many are remembered.
const (
	rolesAtOnce = 200
	rolesKept   = 10_000
)

// readRoles reads the names of roles with listed statements that were not read yet. A name is
// for people only, so an unreadable one is left out.
func (r *reader) readRoles(ctx context.Context, l *measure.Line, list *measure.List) {
	if len(r.roles) >= rolesKept {
		r.roles = nil // some were dropped, perhaps all
	}
	if r.roles == nil {
		r.roles = make(map[uint32]string)
	}
	var asked []string
	for _, e := range list.Entries {
		role := roleOf(e.Statement)
		if _, known := r.roles[role]; known {
			continue
		}
		if len(asked) == rolesAtOnce {
			break // the others follow in the next rounds
		}
		r.roles[role] = ""
		asked = append(asked, strconv.FormatUint(uint64(role), 10))
	}
	if len(asked) == 0 {
		return
	}
	_ = l.Each(ctx, servers.Statement{Columns: 2, Text: strings.ReplaceAll(rolesQuery, "@roles@", strings.Join(asked, ","))}, func(row [][]byte) error {
		role, err := strconv.ParseUint(string(row[0]), 10, 32)
		if err != nil {
			return measure.ErrNonsense
		}
		name := string(row[1])
		r.roles[uint32(role)] = printable.Names([]string{name})[name]
		return nil
	})
}

// Role is the name of the role that executes a statement.
func (r *reader) Role(s measure.Statement) string { return r.roles[roleOf(s)] }

func roleOf(s measure.Statement) uint32 { return uint32(s[1]) } //nolint:gosec // G115: without what marks it nested
