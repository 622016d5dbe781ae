package snapshot_test

import (
	"slices"
	"testing"

	"muster/internal/report/snapshot"
)

// TestPowerOfAccounts: for every engine, accounts that own the server come before those that
// can become the owner, and those before accounts with some power.
func TestPowerOfAccounts(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]snapshot.DatabaseRole{
		"PostgreSQL": {{Superuser: true}, {Attributes: []string{"CREATEROLE"}}, {MemberOf: []string{"app → pg_write_server_files"}}, {Attributes: []string{"CREATEDB", "REPLICATION"}}},
		"SQL Server": {{Superuser: true}, {MemberOf: []string{"ops → team → securityadmin", "ops → dbcreator"}}, {Attributes: []string{"ALTER ANY LOGIN"}}, {MemberOf: []string{"a → bulkadmin", "a → dbcreator"}}},
		"Oracle":     {{Superuser: true}, {Attributes: []string{"BECOME USER", "GRANT ANY ROLE"}}, {Attributes: []string{"GRANT ANY PRIVILEGE"}}, {Attributes: []string{"SELECT ANY TABLE", "ALTER SYSTEM"}}},
	} {
		if !slices.IsSortedFunc(order, func(a, b snapshot.DatabaseRole) int { return b.Power() - a.Power() }) || order[2].Power() <= order[3].Power() {
			t.Errorf("%s: %d, %d, %d, %d", name, order[0].Power(), order[1].Power(), order[2].Power(), order[3].Power())
		}
	}
}
