package clickhouse

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/blocks"
	"muster/internal/testing/longtest"
)

// chDBVersion is the version of the npm package that has a current ClickHouse as a library.
const chDBVersion = "26.7.3-stable.1"

// inChDB runs statements in chDB, which npm installs for the test, and returns what each
// answers.
func inChDB(t *testing.T, statements []string) (answers []string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	python, missing := exec.LookPath("python3")
	if err != nil || missing != nil {
		t.Skip("npm and python3 are needed to install and call chDB")
	}
	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), npm, "install", "--no-save", "--ignore-scripts", "--silent", "--prefix", dir, "@chdb/lib-linux-x64-gnu@"+chDBVersion)
	if output, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm does not install chDB: %v\n%s", err, output)
	}
	asked, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "chdb.py"), filepath.Join(dir, "node_modules/@chdb/lib-linux-x64-gnu/libchdb.so"), filepath.Join(dir, "data"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(asked), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v, after\n%s", err, output)
	}
	lines := bufio.NewScanner(bytes.NewReader(output))
	for lines.Scan() {
		var answer struct{ Error, Text string }
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Error != "" {
			t.Errorf("%s:\n%s", statements[len(answers)], answer.Error)
		}
		answers = append(answers, answer.Text)
	}
	if len(answers) != len(statements) {
		t.Fatalf("%d of %d statements were answered", len(answers), len(statements))
	}
	return answers
}

// TestLongTodaysClickHouseUnderstandsEveryStatement that 18.16 understands, in the engine of today: one node,
// which chDB is, and no connections, which it has not.
func TestLongTodaysClickHouseUnderstandsEveryStatement(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	s := &Store{address: Address{Database: "muster"}}
	var statements []string
	expected := make(map[int]string)
	run := func(statement string) { statements = append(statements, statement) }
	answers := func(statement, answer string) {
		expected[len(statements)] = answer
		run(statement)
	}
	run("CREATE DATABASE muster")
	run(strings.Replace(makeMigrations, "{{table}}", "muster.muster_migrations", 1))
	run("INSERT INTO muster.muster_migrations SELECT 1, 'shard 1 of weights 1', now()")
	var made, columns []string
	for _, table := range tables {
		run(table.create("muster", "ReplacingMergeTree(revision)", ", fsync_after_insert = 1, fsync_part_directory = 1"))
		made = append(made, fmt.Sprintf("%s_local\tReplacingMergeTree\t%s\t%s", table.name, table.partition.expression(), table.sorting()))
		for _, c := range table.columns() {
			columns = append(columns, fmt.Sprintf("%s_local\t%s\t%s", table.name, c.name, strings.ReplaceAll(c.kind, "'", `\'`)))
		}
	}
	slices.Sort(made)
	slices.Sort(columns)
	answers(fmt.Sprintf(selectTables, "muster")+" AND name LIKE '%local' ORDER BY name", strings.Join(made, "\n")+"\n")
	answers(fmt.Sprintf(selectColumns, "muster")+" AND table LIKE '%local' ORDER BY table, name", strings.Join(columns, "\n")+"\n")

	hour := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	host := blocks.Range{Series: blocks.Series{Organization: uuid.UUID{15: 1}, Kind: "host", Subject: `it's \a host`}, From: hour, To: hour.Add(time.Hour)}
	minutes, err := tableOf(blocks.Minutes, "host", host.Series.Subject)
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []int{1, 2} {
		run(fmt.Sprintf("INSERT INTO muster.minutes_local SELECT toUUID('%s'), 'host', %s, '', toDateTime(%d), %d, 0, 1, concat(char(0), char(3), 'abcdef')",
			host.Series.Organization, quote(host.Series.Subject), hour.Unix(), revision))
	}
	run("OPTIMIZE TABLE muster.minutes_local FINAL")
	whole := share{in: minutes, organization: host.Series.Organization, kind: "host"}
	front := whole
	front.front = true
	answers(s.selectBlocks(whole, []blocks.Range{host}), "it\\'s \\\\a host\t2026-11-16 00:00:00\t2\t1\t\\0\x03abcdef\n")
	answers(s.selectBlocks(front, []blocks.Range{host}), "it\\'s \\\\a host\t2026-11-16 00:00:00\t2\t1\tabc\n")

	database := uuid.UUID{15: 9}
	is := blocks.Range{Series: blocks.Series{Organization: host.Series.Organization, Kind: "statements", Subject: uuid.UUID{15: 2}.String()}, From: hour, To: hour.Add(5 * time.Minute)}
	ids := fmt.Sprintf("toUUID('%s'), toUUID('%s'), 'postgresql', toDateTime(%d)", is.Series.Organization, is.Series.Subject, hour.Unix())
	for _, revision := range []int{1, 2} {
		run(fmt.Sprintf("INSERT INTO muster.statement_samples_local SELECT %[1]s, %[2]d, 0, 1, [1000000, 400000000], [1000000, 400000000], [toUUID('%[3]s'), toUUID('%[3]s')], [toUUID('%[3]s'), toUUID('%[3]s')], [7, 7], [1000000, 400000000], [5, 6], [1, 0], [0.5, 8], [-inf, -inf]", ids, revision, database))
		run(fmt.Sprintf("INSERT INTO muster.statement_hours_local SELECT %[1]s, %[2]d, 0, 1, [toUUID('%[3]s')], [toUUID('%[3]s')], [7], [5], [1], [0.5], [2.5], [60]", ids, revision, database))
	}
	for table, sum := range map[blocks.Table]string{blocks.Raw: "[7]\t[65541]\t[0.5]\t[-inf]\t[1]", blocks.HourDetails: "[7]\t[65541]\t[0.5]\t[2.5]\t[60]"} {
		in, err := tableOf(table, is.Series.Kind, is.Series.Subject)
		if err != nil {
			t.Fatal(err)
		}
		which := share{in: in, organization: is.Series.Organization, kind: is.Series.Kind}
		fill := s.sumOf(which, []blocks.Range{is})
		answers(fill.Replace(sumStatements), is.Series.Subject+"\t"+database.String()+"\t"+sum+"\n")
		answers(fill.Replace(sampledDatabases), is.Series.Subject+"\t"+database.String()+"\n")
		run(s.selectBlocks(which, []blocks.Range{is}))
	}
	answers(fmt.Sprintf(selectPartitions, "muster", "minutes"), byWeek.of(hour)+"\t20261116\n")
	run("ALTER TABLE muster.minutes_local DROP PARTITION ID '20261116'")
	answers("SELECT count() FROM muster.minutes_local", "0\n")
	run(fmt.Sprintf("ALTER TABLE muster.statement_hours_local DELETE WHERE organization = toUUID('%s') SETTINGS mutations_sync = 1", is.Series.Organization))
	answers(fmt.Sprintf(selectRows, "muster.statement_hours_local", is.Series.Organization), "0\n")
	run(fmt.Sprintf(selectMutations, "muster", "statement_hours", is.Series.Organization))
	run(fmt.Sprintf(selectMutation, "muster", "statement_hours", "mutation_7.txt"))
	for i, is := range inChDB(t, statements) {
		if want, known := expected[i]; known && is != want {
			t.Errorf("%s\nanswers\n%q, not\n%q", statements[i], is, want)
		}
	}
}
