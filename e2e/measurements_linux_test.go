package e2e

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/postgres/statement"
)

// compacted rolls up what was sent and puts it into blocks, as if an hour had passed.
func (i installed) compacted(t testing.TB) {
	t.Helper()
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		_, rolled := in.Samples.Roll(ctx)
		aged := statement.Exec(ctx, in.DB, "age", `UPDATE measured_hours SET arrived_at = arrived_at - interval '1 hour'`)
		n, err := in.Samples.Compact(ctx)
		if n == 0 {
			t.Error("nothing was put into blocks")
		}
		return errors.Join(rolled, aged, err)
	})
}

// hostAt is a message with one sample of a host.
func hostAt(at time.Time) map[string]any {
	return map[string]any{"hosts": []map[string]any{{"host": "sent.example", "instances": []string{}, "at": at, "cpuPercent": 12.5}}}
}

// utilizationOf asks for the tile of the day before an hour, at 1h.
func (c client) utilizationOf(t testing.TB, hour time.Time) answer {
	t.Helper()
	window := url.Values{"from": {hour.Add(-23 * time.Hour).Format(time.RFC3339)}, "to": {hour.Add(time.Hour).Format(time.RFC3339)}, "bucketSize": {"1h"}}
	got, err := c.try(t.Context(), http.MethodGet, "/api/v1/metrics/utilization?"+window.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestMeasurementsInClickHouse: hours that are over are on two servers. Without these what
// is older is unavailable and nothing else; an organization that is deleted is deleted there.
func TestMeasurementsInClickHouse(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Start(t, clickhousetest.Options{Shards: 2})
	i := install(t)
	i.measurements = c.URL("measured")
	email := i.organization(t, "Acme")
	server := serving(t, nil, append(i.flags(), "--roles=api", "--rate-limits=off")...)
	ana := i.as(t, server, email)
	sends := client{base: server.base, token: strings.TrimSpace(i.must(t, "token", "create", "--kind", "ingest", "--email", email))}
	hour := time.Now().UTC().Truncate(time.Hour).Add(-5 * time.Hour)
	sends.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", hostAt(hour.Add(time.Minute)), nil)
	i.compacted(t)
	if status, passed := ana.checks(t, "/readyz"); !passed["measurements"] {
		t.Errorf("it is %s, %v", status, passed)
	}
	on := func() (rows [2]uint64) {
		for n, s := range c.Servers {
			rows[n] = s.Number(t, "SELECT count() FROM measured.minutes_local")
		}
		return rows
	}
	holder := c.Servers[0]
	if on()[0] == 0 {
		holder = c.Servers[1]
	}
	if rows := on(); rows[0]+rows[1] == 0 {
		t.Fatal("no server has the hour")
	}
	shown := ana.utilizationOf(t, hour)
	if shown.status != http.StatusOK || !strings.Contains(string(shown.body), "12.5") {
		t.Fatalf("the hour is not shown: %d %s", shown.status, shown.body)
	}

	elsewhere := i
	for url, why := range map[string]string{"": "are in ClickHouse, muster/measured, and this process is set to PostgreSQL: set", c.URL("another"): "set to ClickHouse, muster/another"} {
		elsewhere.measurements = url
		got := launchHere(t, serveArgs(elsewhere.flags())...).outcome(t)
		if got.status != command.ExitFailed || !strings.Contains(got.errors, why) {
			t.Errorf("set to %q, serve ends with %d %s", url, got.status, got.errors)
		}
	}
	if n := c.Servers[0].Number(t, "SELECT count() FROM system.databases WHERE name = 'another'"); n != 0 {
		t.Error("tables were made where the measurements are not")
	}

	holder.Stop(t)
	late := hostAt(hour.Add(2 * time.Minute))
	for what, ask := range map[string]func() answer{
		"a tile": func() answer { return ana.utilizationOf(t, hour.Add(-time.Hour)) },
		"a late sample": func() answer {
			got, err := sends.try(t.Context(), http.MethodPost, "/ingest/v1/samples", late)
			if err != nil {
				t.Fatal(err)
			}
			return got
		},
	} {
		if got := ask(); got.status != http.StatusServiceUnavailable || got.code() != "unavailable" || got.header.Get("Retry-After") == "" || strings.Contains(string(got.body), holder.Addr()) {
			t.Errorf("%s of a server that is away: %d %v %s", what, got.status, got.header, got.body)
		}
	}
	if status, passed := ana.checks(t, "/readyz"); status != "degraded" || passed["measurements"] || !passed["database"] {
		t.Errorf("with a server away it is %s, %v", status, passed)
	}
	sends.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", hostAt(time.Now().UTC()), nil)
	refusesAfterADay(t, i, sends, ana, hour)

	holder.Restart(t)
	afterwards(t, i, sends, ana, hour)

	holder.Kill(t)
	if got := i.muster(t, "organization", "delete", "Acme", "--yes"); got.status == 0 || !strings.Contains(got.errors, holder.Addr()) {
		t.Errorf("an organization is deleted whose measurements are away: %d %s", got.status, got.errors)
	}
	holder.Restart(t)
	i.must(t, "organization", "delete", "Acme", "--yes")
	if rows := on(); rows[0]+rows[1] != 0 {
		t.Errorf("of a deleted organization there are %v rows", rows)
	}
}

// compacting rolls up and puts into blocks what can be.
func (i installed) compacting(t testing.TB, change string) (err error) {
	t.Helper()
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		aged := statement.Exec(ctx, in.DB, "age", `UPDATE measured_hours SET arrived_at = arrived_at - interval '1 hour'`)
		due := statement.Exec(ctx, in.DB, "wait", `UPDATE dirty_hours SET due = now()`)
		_, rolled := in.Samples.Roll(ctx)
		_, err = in.Samples.Compact(ctx)
		return errors.Join(aged, due, rolled, statement.Exec(ctx, in.DB, "change", change))
	})
	return err
}

// refusesAfterADay: what a shard that is away should have is taken in for a day, and /readyz
// says before that it will not be.
func refusesAfterADay(t *testing.T, i installed, sends, ana client, hour time.Time) {
	t.Helper()
	sends.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", hostAt(hour.Add(2*time.Hour)), nil)
	_ = i.compacting(t, `UPDATE series_away SET since = since - interval '23 hours'`)
	sends.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", hostAt(hour.Add(2*time.Hour+time.Minute)), nil)
	lag := regexp.MustCompile(`"lagSeconds":828\d\d`)
	eventually(t, "/readyz says for how long", func() bool { // it looks once a second
		got, err := ana.try(t.Context(), http.MethodGet, "/readyz", nil)
		return err == nil && lag.Match(got.body)
	})
	_ = i.compacting(t, `UPDATE series_away SET since = since - interval '2 hours'`)
	got, err := sends.try(t.Context(), http.MethodPost, "/ingest/v1/samples", hostAt(hour.Add(2*time.Hour+2*time.Minute)))
	if err != nil || got.status != http.StatusServiceUnavailable || got.code() != "unavailable" || got.header.Get("Retry-After") == "" {
		t.Errorf("after a day a sample is answered %d %v %s, %v", got.status, got.header, got.body, err)
	}
}

// afterwards all that was taken in is put where it belongs, and what was refused is taken.
func afterwards(t *testing.T, i installed, sends, ana client, hour time.Time) {
	t.Helper()
	eventually(t, "all is put where it belongs", func() bool { return i.compacting(t, "SELECT 1") == nil })
	sends.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", hostAt(hour.Add(2*time.Hour+2*time.Minute)), nil)
	eventually(t, "it is ready again", func() bool {
		_, passed := ana.checks(t, "/readyz")
		return passed["measurements"]
	})
	if got := ana.utilizationOf(t, hour.Add(2*time.Hour)); strings.Count(string(got.body), "12.5") != 2 {
		t.Errorf("when it is back the tile is %s", got.body)
	}
}

// TestMeasurementsThatCannotBeOpened keep serve from starting, with one sentence that has
// no password. Commands that read none of them go on.
func TestMeasurementsThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	c := clickhousetest.Start(t, clickhousetest.Options{Shards: 1, Secure: true})
	i := install(t)
	i.measurements = c.URL("changed")
	i.within(t, func(context.Context, *installation.Installation) error { return nil })
	c.Servers[0].Exec(t, "ALTER TABLE changed.minutes_local MODIFY COLUMN body Nullable(String)")
	for name, is := range map[string]struct{ url, why string }{
		"hosts":    {"clickhouse://u:let-me@h:1,g:1/d", "has several hosts and no cluster"},
		"nobody":   {"clickhouse://u:let-me@127.0.0.1:1/d", "127.0.0.1:1 cannot be reached"},
		"password": {strings.Replace(c.URL("d"), clickhousetest.Password[:6], "let-me-too", 1), "cannot be reached: "},
		"table":    {c.URL("changed"), "changed by hand"},
		"old":      {"clickhouse://u:let-me@" + oldServer(t, 54318) + "/d", "is 1.1.54318: the oldest that keeps measurements is 18.16, update it"},
		"ancient":  {"clickhouse://u:let-me@" + oldServer(t, 53000) + "/d", "too old to be spoken to: the oldest that keeps measurements is 18.16"},
		"cluster":  {strings.Replace(c.URL("d"), "cluster=muster", "cluster=nowhere", 1), `"nowhere" of ClickHouse, asked of ` + c.Servers[0].Addr() + ", is not there: this server's remote_servers does not have it"},
		"database": {strings.Replace(c.Servers[0].URL("d"), "default:", "reader:", 1), "the account may not change it"},
		"stranger": {c.Servers[0].SecureURL("d"), "unknown authority; have this machine trust who issued it"},
		"plain":    {strings.Replace(c.Servers[0].SecureURL("d"), "?secure=true", "", 1), "cannot be reached: "},
	} {
		i.measurements = is.url
		got := launchHere(t, serveArgs(i.flags())...).outcome(t)
		lines := strings.Split(strings.TrimSpace(got.errors), "\n")
		if last := lines[len(lines)-1]; got.status != command.ExitFailed || !strings.HasPrefix(last, "muster: --measurements-url: ") || !strings.Contains(last, is.why) {
			t.Errorf("%s: %d %s", name, got.status, last)
		}
		if strings.Contains(got.errors+got.out, "let-me") {
			t.Errorf("%s: the password is in %s", name, got.errors)
		}
	}
	i.organization(t, "Acme")
	i.measurements = c.Servers[0].SecureURL("d")
	serving(t, []string{"SSL_CERT_FILE=" + c.Servers[0].CA}, append(i.flags(), "--roles=api")...)
}

// oldServer says, to whoever connects, that it is ClickHouse 1.1 of a revision.
func oldServer(t testing.TB, revision uint64) (address string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			hello := binary.AppendUvarint([]byte("\x00\x0aClickHouse\x01\x01"), revision) // a packet of sort 0: name, 1.1, revision, time zone
			_, _ = conn.Write(append(hello, "\x03UTC"...))
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return l.Addr().String()
}
