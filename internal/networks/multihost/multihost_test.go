package multihost_test

import (
	"testing"

	"muster/internal/networks/multihost"
)

// TestListsOfHosts are read whole, and whatever stands before and behind them as in any URL.
func TestListsOfHosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		host, redacted string
		several        bool
	}{
		"postgres://u:p@h/d":                            {"h", "postgres://u:xxxxx@h/d", false},
		"postgres://u:p@h?options=a,b":                  {"h", "postgres://u:xxxxx@h?options=a,b", false}, // no host behind the comma
		"postgres://u:p@one:5432,two:5433/d?sslmode=no": {"one:5432,two:5433", "postgres://u:xxxxx@one:5432,two:5433/d?sslmode=no", true},
		"postgres://u:p@one,two":                        {"one,two", "postgres://u:xxxxx@one,two", true},
		"postgres://u:p@one,two?sslmode=no":             {"one,two", "postgres://u:xxxxx@one,two?sslmode=no", true},
		"postgres://u:p%40,@[::1]:5432,[::2]/d":         {"[::1]:5432,[::2]", "postgres://u:xxxxx@[::1]:5432,[::2]/d", true},
		"postgres:///d?host=one,two&port=1,2":           {"", "postgres:///d?host=one,two&port=1,2", true},
		"clickhouse://u:p@h:9000,g:9000/d?cluster=c":    {"h:9000,g:9000", "clickhouse://u:xxxxx@h:9000,g:9000/d?cluster=c", true},
	} {
		u, err := multihost.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if u.Host != want.host || u.Redacted() != want.redacted || multihost.Several(u) != want.several {
			t.Errorf("%s: hosts %q, several %t, shown as %s", text, u.Host, multihost.Several(u), u.Redacted())
		}
	}
	if u, err := multihost.Parse("postgres://u:%zz@one,two/d"); err == nil {
		t.Errorf("what is no URL is read as %+v", u)
	}
}
