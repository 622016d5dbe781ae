package clickhouse_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"muster/internal/measurements/clickhouse"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	is, err := clickhouse.ParseAddress("clickhouse://me:p%40ss%2Fw:rd@one,two:9001,[::1]:9002/muster?cluster=c1&secure=true")
	want := clickhouse.Address{User: "me", Password: "p@ss/w:rd", Database: "muster", Cluster: "c1", Secure: true}
	if err != nil || !slices.Equal(is.Hosts, []string{"one:9440", "two:9001", "[::1]:9002"}) {
		t.Fatalf("%v, %v", is.Hosts, err)
	}
	if is.Hosts = nil; is.User != want.User || is.Password != want.Password || is.Database != want.Database || is.Cluster != want.Cluster || !is.Secure {
		t.Fatalf("%+v", is)
	}
	if is, err = clickhouse.ParseAddress("clickhouse://host/d"); err != nil || is.User != "default" || is.Hosts[0] != "host:9000" {
		t.Fatalf("%+v, %v", is, err)
	}
	for url, reason := range map[string]string{
		"postgres://me:s3cret@host/d":                       "does not begin",
		"clickhouse://me:s3cret@host/":                      "no database",
		"clickhouse://me:s3cret@host/d;x":                   "no database",
		"clickhouse://me:s3cret@/d":                         "no host",
		"clickhouse://me:s3cret@a,b/d":                      "no cluster",
		"clickhouse://me:s3cret@a/d?cluster=x'y":            "cluster whose name",
		"clickhouse://me:s3cret@a/d?secure=maybe":           `"secure"`,
		"clickhouse://me:s3cret%@a/d":                       "cannot be read",
		"clickhouse://me:s3cret@a/d?cluster=c&cluster=d":    "cluster whose name",
		"clickhouse://me:s3cret@a/d?dial_timeout=1s":        `"dial_timeout"`,
		"clickhouse://me:s3cret@a/d?cluster=c&secure=true1": `"secure"`,
	} {
		_, err := clickhouse.ParseAddress(url)
		var wrong *clickhouse.AddressError
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, reason) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
