package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore/placement"
	"muster/internal/postgres/statement"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// moveRunbook is the runbook's lines of shell, in order.
type moveRunbook struct {
	install installed
	bin     string // where muster is
	exports []string
	lines   []string
}

// runbookOf reads a runbook's commands, with the URL of a cluster in the place of its own.
func runbookOf(t *testing.T, i installed, path, url string) *moveRunbook {
	t.Helper()
	r := &moveRunbook{install: i, bin: t.TempDir()}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(r.bin, "muster"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readText(t, path), -1) {
		text := strings.ReplaceAll(block[1], "clickhouse://muster:secret@ch1:9000,ch2:9000/measurements?cluster=muster", url)
		r.lines = append(r.lines, strings.Split(strings.TrimSpace(text), "\n")...)
	}
	return r
}

// next runs the next line, which begins as a reader expects, in a shell that has run those
// before. Lines of the environment are remembered.
func (r *moveRunbook) next(t testing.TB, begins string) *running {
	t.Helper()
	if len(r.lines) == 0 || !strings.HasPrefix(r.lines[0], begins) {
		t.Fatalf("the runbook does not go on with %q, but %q", begins, r.lines)
	}
	line := r.lines[0]
	r.lines = r.lines[1:]
	if !strings.HasPrefix(line, "muster ") {
		r.exports = append(r.exports, line)
		return nil
	}
	return r.start(t, line)
}

// start runs a line.
func (r *moveRunbook) start(t testing.TB, line string) *running {
	t.Helper()
	script := strings.Join(append(slices.Clone(r.exports), "exec "+line), "\n")
	return start(t, exec.Command("sh", "-ec", script), []string{
		"PATH=" + r.bin + ":" + os.Getenv("PATH"), "MUSTER_DATABASE_URL=" + r.install.url, "MUSTER_DATA_DIR=" + r.install.dir,
	})
}

// ends waits for a line that is to succeed.
func (r *running) ends(t testing.TB, want string) {
	t.Helper()
	if got := r.outcome(t); got.status != 0 || !strings.Contains(got.out, want) {
		t.Fatalf("it ended with %d: %s%s", got.status, got.out, got.errors)
	}
}

// during runs a line of the runbook, and rolls up and puts hours away meanwhile, as if they
// were over for long, until it has ended.
func (r *moveRunbook) during(t testing.TB, begins string, send func()) (line *running) {
	t.Helper()
	r.install.within(t, func(ctx context.Context, in *installation.Installation) error {
		line = r.next(t, begins)
		for {
			send()
			_, err := in.Samples.Roll(ctx)
			aged := statement.Exec(ctx, in.DB, "age", `UPDATE measured_hours h SET arrived_at = arrived_at - interval '1 hour'
				FROM measured_series s JOIN organizations o ON o.id = s.organization_id
				WHERE s.id = h.series_id AND o.name = 'Acme'`)
			_, compacted := in.Samples.Compact(ctx)
			err = errors.Join(err, aged, compacted)
			if moved := (*placement.MovedError)(nil); err != nil && !errors.As(err, &moved) {
				return err
			}
			if line.over() {
				return nil
			}
		}
	})
	return line
}

// figures are what a tile shows of some hours before one until now.
func figures(t testing.TB, c client, hour time.Time, before int) string {
	t.Helper()
	window := url.Values{"from": {hour.Add(-time.Duration(before) * time.Hour).Format(time.RFC3339)}, "to": {hour.Add(6 * time.Hour).Format(time.RFC3339)}, "bucketSize": {"1h"}}
	a, err := c.try(t.Context(), http.MethodGet, "/api/v1/metrics/utilization?"+window.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var shown struct {
		HostCount int
		Series    json.RawMessage
	}
	if err := json.Unmarshal(a.body, &shown); err != nil {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return fmt.Sprint(shown.HostCount, " hosts ", string(shown.Series))
}

// TestLongMeasurementsAreMoved from PostgreSQL to two servers and back by the runbook's own
// lines, while others send fresh and late samples: with a server away nothing is switched,
// a copy that was killed is begun again, and at every stop all figures are those of
// somebody who sent the same and whose hours never were anywhere but in the head.
func TestLongMeasurementsAreMoved(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	c := clickhousetest.Start(t, clickhousetest.Options{Shards: 2})
	i := install(t)
	emails := map[string]string{"acme": i.organization(t, "Acme"), "twin": i.organization(t, "Twin")}
	runbook := runbookOf(t, i, "docs/runbooks/move-measurements.md", c.URL("measured"))
	flags := func() []string {
		return append(i.flags(), "--roles=api,workers", "--ops-listen=off", "--rate-limits=off")
	}
	server := serving(t, nil, flags()...)
	tokens := make(map[string]string)
	for name, email := range emails {
		tokens[name] = strings.TrimSpace(i.must(t, "token", "create", "--kind", "ingest", "--email", email))
	}
	hour := time.Now().UTC().Truncate(time.Hour).Add(-5 * time.Hour)
	var sent []any // messages
	sendsOf := func(at time.Time, hosts int) {
		var samples []any
		for n := range hosts {
			samples = append(samples, map[string]any{"host": fmt.Sprint("sent-", n), "instances": []string{}, "at": at, "cpuPercent": float64((n+len(sent))%97) + 0.5})
		}
		message := map[string]any{"hosts": samples}
		got, err := client{base: server.base, token: tokens["acme"]}.try(t.Context(), http.MethodPost, "/ingest/v1/samples", message)
		switch {
		case err == nil && got.status == http.StatusAccepted:
			sent = append(sent, message)
		case err != nil || got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "":
			t.Errorf("samples are answered with %d %s, %v", got.status, got.body, err)
		}
	}
	sends := func(at time.Time) { sendsOf(at, 1) }
	for n := range 8 {
		sendsOf(hour.Add(time.Duration(n)*time.Minute), 160)
	}
	i.compacted(t)
	asked, told := 0, 0 // windows; of the messages, to the twin
	agrees := func(what string) {
		t.Helper()
		for ; told < len(sent); told++ {
			client{base: server.base, token: tokens["twin"]}.call(t, http.StatusAccepted, http.MethodPost, "/ingest/v1/samples", sent[told], nil)
		}
		acme, twin := i.as(t, server, emails["acme"]), i.as(t, server, emails["twin"])
		var shown, want string
		if !within(patience, func() bool {
			asked++ // another window each time: answers are kept for 30 s
			shown, want = figures(t, acme, hour, asked), figures(t, twin, hour, asked)
			return shown == want && strings.Contains(want, ".")
		}) {
			t.Fatalf("%s, it shows\n%s, not\n%s", what, shown, want)
		}
	}

	for _, s := range c.Servers { // one of them has the host
		s.Stop(t)
		got := runbook.start(t, runbook.lines[0]).outcome(t)
		if got.status != command.ExitFailed || !strings.Contains(got.errors, "muster: measurements on ClickHouse on "+s.Addr()+" cannot be reached") || strings.Contains(got.errors, "let-me") {
			t.Errorf("with %s away: %d %s", s.Addr(), got.status, got.errors)
		}
		s.Restart(t)
	}
	killed := runbook.start(t, runbook.lines[0])
	eventually(t, "it copies", func() bool { return strings.Contains(killed.logged.String(), "copying ") })
	killed.kill(t)
	if strings.Contains(killed.said.String(), "the measurements are") {
		t.Error("it was killed too late")
	}
	turns := 0
	runbook.during(t, "muster measurements copy --to 'clickhouse://", func() {
		turns++
		sends(hour.Add(time.Duration(turns)*time.Minute + time.Second)) // late
		sends(time.Now().UTC())
	}).ends(t, "the measurements are in ClickHouse, muster/measured")
	sends(hour.Add(2 * time.Hour))
	eventually(t, "serve says that the measurements have moved", func() bool {
		return strings.Contains(server.logged.String(), "are in ClickHouse, muster/measured, and this process is set to PostgreSQL")
	})
	server.stop(t)
	if got := launchHere(t, serveArgs(i.flags())...).outcome(t); got.status != command.ExitFailed || !strings.Contains(got.errors, "set MUSTER_MEASUREMENTS_URL") {
		t.Errorf("it starts as before: %d %s", got.status, got.errors)
	}
	drop := slices.IndexFunc(runbook.lines, func(line string) bool { return strings.HasPrefix(line, "muster measurements drop") })
	if got := runbook.start(t, runbook.lines[drop]).outcome(t); got.status != command.ExitFailed || !strings.Contains(got.errors, "no serve has been started there yet") {
		t.Errorf("what may be needed is dropped: %d %s", got.status, got.errors)
	}

	runbook.next(t, "export MUSTER_MEASUREMENTS_URL='clickhouse://")
	i.measurements = c.URL("measured")
	server = serving(t, nil, flags()...)
	sends(hour.Add(30 * time.Minute))
	agrees("in ClickHouse")
	db := pgtest.Connect(t, i.url)
	begun := func() (is bool) { return db.GetContext(t.Context(), &is, `SELECT begun FROM block_home`) == nil && is }
	rows := func(table string) (n int) {
		if err := db.GetContext(t.Context(), &n, `SELECT count(*) FROM `+table); err != nil {
			t.Fatal(err)
		}
		return n
	}
	eventually(t, "it is used there", begun)
	if rows("block_raw") == 0 {
		t.Error("nothing was left in PostgreSQL")
	}
	runbook.next(t, "muster measurements drop --from postgres --yes").ends(t, "nothing is left in PostgreSQL")
	if rows("block_raw") != 0 {
		t.Error("it is left in PostgreSQL")
	}
	sends(hour.Add(31 * time.Minute))
	agrees("after the drop")

	runbook.install = i
	runbook.during(t, "muster measurements copy --to postgres", func() {
		turns++
		sends(hour.Add(time.Hour + time.Duration(turns)*time.Second))
	}).ends(t, "the measurements are in PostgreSQL")
	server.stop(t)
	runbook.next(t, "unset MUSTER_MEASUREMENTS_URL")
	i.measurements = ""
	server = serving(t, nil, flags()...)
	sends(hour.Add(32 * time.Minute))
	agrees("back in PostgreSQL")
	eventually(t, "it is used there", begun)
	runbook.next(t, "muster measurements drop --from 'clickhouse://").ends(t, "nothing is left in ClickHouse")
	for _, s := range c.Servers {
		if n := s.Number(t, "SELECT count() FROM measured.minutes_local"); n != 0 {
			t.Errorf("%d rows are left in ClickHouse", n)
		}
	}
	sends(hour.Add(33 * time.Minute))
	agrees("at last")
	if len(runbook.lines) != 0 {
		t.Errorf("the runbook goes on with %q", runbook.lines)
	}
}
