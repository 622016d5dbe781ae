package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestSeveralHostsAreBounded: each has seconds to answer, unless the operator says
// otherwise; and tools reach the same hosts as the driver.
func TestSeveralHostsAreBounded(t *testing.T) { // sets a variable: not parallel
	for address, bounded := range map[string]bool{
		"postgres://u:p@h/d":        false,
		"postgres:///d?host=%2Ftmp": false,
		"postgres://u:p@one:5432,two:5433/d?target_session_attrs=read-write": true,
		"postgres://u:p@one,two/d":                            true,
		"postgres://u:p@[::1]:5432,[::2]/d":                   true,
		"postgres://u:p@one,two?target_session_attrs=primary": true,
		"postgres:///d?host=one,two&port=1,2":                 true,
		"postgres://u:p@one,two/d?connect_timeout=9":          false,
	} {
		got := Bounded(address)
		if (got != address) != bounded {
			t.Errorf("%s becomes %s", address, got)
		}
		config, err := pgx.ParseConfig(got)
		if err != nil {
			t.Errorf("%s: %v", got, err)
			continue
		}
		if want := hostTimeout; bounded && config.ConnectTimeout != want {
			t.Errorf("%s has %s for each host, want %s", got, config.ConnectTimeout, want)
		}
		tool, _, err := libpq(got)
		if err != nil {
			t.Errorf("%s: %v", got, err)
			continue
		}
		other, err := pgx.ParseConfig(tool)
		if err != nil || other.Host != config.Host || other.Port != config.Port || len(other.Fallbacks) != len(config.Fallbacks) || strings.Contains(tool, ":p@") {
			t.Errorf("a tool goes to %s, %v", tool, err)
		}
	}
	t.Setenv("PGCONNECT_TIMEOUT", "7")
	if got := Bounded("postgres://one,two/d"); strings.Contains(got, "connect_timeout") {
		t.Errorf("PGCONNECT_TIMEOUT is overruled by %s", got)
	}
}
