package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/servers"
	"muster/internal/servers/tdstest"
)

// realServer names a server of which an account may create databases, as Babelfish (scripts/babelfish.sh). It is not
// Muster's usual account, so grants are not judged.
const realServer = "MUSTER_TEST_SQLSERVER"

// TestARealServer holds a server that is none of ours, where one is given, to what the reader and the driver expect of all.
func TestARealServer(t *testing.T) {
	t.Parallel()
	dsn := os.Getenv(realServer)
	if dsn == "" {
		t.Skip(realServer + " names no server")
	}
	told, wrong := judge(t.Context(), dsn)
	for _, one := range told {
		t.Log(one)
	}
	for _, one := range wrong {
		t.Error(one)
	}
}

// judgedNames are databases that come and go.
var judgedNames = []string{"muster_judge", "muster a]b'c", "muster Łódź", `muster "hi"`}

// judge measures a server, and says what came of each query, and what is wrong: names that change, answers that make no
// sense, refusals that end the session, a statement that goes on. Views that the server does not have are told.
func judge(ctx context.Context, dsn string) (told, wrong []string) {
	target, err := new(servers.Reach).Target(fleet.SQLServer, dsn)
	if err != nil {
		return nil, []string{err.Error()}
	}
	stranger := target
	stranger.User, stranger.Password = "nobody_of_this_name", "wrong"
	if _, err := stranger.Open(ctx, target.Database, measure.StatementTimeout); !isClass(err, servers.ClassAuthentication) {
		wrong = append(wrong, fmt.Sprintf("a login that does not exist: %v", err))
	}
	session, err := target.Open(ctx, target.Database, measure.StatementTimeout)
	if err != nil {
		return nil, append(wrong, err.Error())
	}
	defer session.Close(ctx)
	j := &judged{Session: session}
	j.looks(ctx)
	j.names(ctx)
	j.goesOn(ctx)
	return j.told, append(wrong, j.wrong...)
}

func isClass(err error, class string) bool {
	refused, ok := errors.AsType[*servers.ConnectionError](err)
	return ok && refused.Class == class
}

// judged is a session that notes what comes of each query.
type judged struct {
	servers.Session
	told, wrong []string
}

func (j *judged) Each(ctx context.Context, statement servers.Statement, take func([][]byte) error) error {
	rows := 0
	err := j.Session.Each(ctx, statement, func(row [][]byte) error {
		rows++
		return take(row)
	})
	line := tdstest.FirstLine(statement.Text)
	j.told = append(j.told, fmt.Sprintf("%s: %d rows, %v", line, rows, err))
	if err != nil && servers.ReasonOf(err) == "" { // no refusal: the reader or the driver does not understand the answer
		j.wrong = append(j.wrong, fmt.Sprintf("%s: %v", line, err))
	}
	return err
}

// looks has two looks at all that a reader reads.
func (j *judged) looks(ctx context.Context) {
	r := newReader(time.Now)
	l := measure.NewLine(j, nil)
	for range 2 {
		a, err := r.Activity(ctx, l)
		if err != nil {
			j.wrong = append(j.wrong, "no list of databases: "+err.Error())
			return
		}
		_, errs := r.Signs(ctx, l)
		_, err1 := r.Figures(ctx, l)
		_, err2 := r.Blocking(ctx, l, time.Now(), true)
		_, err3 := r.Deadlocks(ctx, l, a, time.Now(), true)
		_, err4 := r.Replication(ctx, l, time.Now())
		_, err5 := r.Backups(ctx, l, time.Now())
		_, err6 := r.Room(ctx, l, time.Now())
		list, err7 := r.Statements(ctx, l)
		if list != nil {
			_, err = r.Texts(ctx, l, refsOf(list))
		}
		if all := errors.Join(errs, err1, err2, err3, err4, err5, err6, err7, err); errors.Is(all, measure.ErrNonsense) {
			j.wrong = append(j.wrong, all.Error())
		}
	}
	if j.Closed() {
		j.wrong = append(j.wrong, "the session is gone")
	}
}

func refsOf(list *measure.List) (of []measure.Ref) {
	for _, e := range list.Entries[:min(len(list.Entries), 100)] {
		of = append(of, measure.Ref{Database: e.Database, Statement: e.Statement})
	}
	return of
}

// names creates databases, which have to be listed by these names, and drops them.
func (j *judged) names(ctx context.Context) {
	listed := func() []string {
		a, err := newReader(time.Now).Activity(ctx, measure.NewLine(j, nil))
		if err != nil {
			j.wrong = append(j.wrong, err.Error())
			return nil
		}
		return a.Names()
	}
	do := func(what, name string) error {
		text := what + " DATABASE [" + strings.ReplaceAll(name, "]", "]]") + "]"
		return j.Session.Each(ctx, servers.Statement{Text: text, Columns: 1}, func([][]byte) error { return nil })
	}
	for _, name := range judgedNames {
		if err := do("CREATE", name); err != nil {
			j.told = append(j.told, fmt.Sprintf("a database %q cannot be created: %v", name, err))
			continue
		}
		if all := listed(); !slices.Contains(all, name) {
			j.wrong = append(j.wrong, fmt.Sprintf("%q is listed as one of %q", name, all))
		}
		if err := do("DROP", name); err != nil {
			j.told = append(j.told, fmt.Sprintf("the database %q stays: %v", name, err))
		} else if all := listed(); slices.Contains(all, name) {
			j.wrong = append(j.wrong, fmt.Sprintf("%q is listed, and gone", name))
		}
	}
}

// goesOn: after a refusal the session answers, and a statement ends when its time is over.
func (j *judged) goesOn(ctx context.Context) {
	one := func(text string) error {
		_, err := servers.Row(ctx, j.Session, 1, text)
		return err
	}
	if err := one("SELECT a FROM muster_has_no_such_view"); servers.ReasonOf(err) == "" {
		j.wrong = append(j.wrong, fmt.Sprintf("a view that there is not: %v", err))
	}
	if err := one("SELECT N'öß😀'"); err != nil {
		j.wrong = append(j.wrong, fmt.Sprintf("after a refusal: %v", err))
	}
	j.SetTimeout(time.Second)
	began := time.Now()
	err := one("WAITFOR DELAY '00:00:30'; SELECT 1")
	if took := time.Since(began); servers.ReasonOf(err) != servers.TimedOut || took > 20*time.Second {
		j.wrong = append(j.wrong, fmt.Sprintf("a statement of 30 seconds ends after %s: %v", took, err))
	}
	j.told = append(j.told, fmt.Sprintf("after a statement whose time was over, the session is gone: %t", j.Closed()))
}

// TestTheJudgeOfRealServers judges the stub, as no real server is at hand: it finds nothing wrong there, and what is.
func TestTheJudgeOfRealServers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		breaks func(*fake)
		wrong  string
	}{
		"nothing is wrong": {func(*fake) {}, ""},
		"a view is missing": {func(f *fake) {
			f.fails["sessions"] = &tdstest.Error{Number: 208, Class: 16, Text: "Invalid object name"}
		}, ""},
		"an answer makes no sense": {func(f *fake) { f.sessions = []row{{5, "idle", "", "many"}} }, "something else than was asked for"},
		"an answer has columns too many": {func(f *fake) {
			f.Answer(query("lock_wait"), tdstest.Answer{Rows: []row{{0, 1, 2, 3}}})
		}, "other columns"},
		"names change":               {func(f *fake) { f.mangles = true }, `"muster a]b'c" is listed as one of`},
		"a refusal ends the session": {func(f *fake) { f.Answer("SELECT a FROM muster_has_no_such_view", tdstest.Answer{Then: tdstest.Cut}) }, "a view that there is not"},
		"a statement goes on":        {func(f *fake) { f.Answer(delayed, tdstest.Answer{Rows: []row{{1}}}) }, "a statement of 30 seconds ends"},
		"anybody may sign in":        {func(f *fake) { f.anybody = true }, "a login that does not exist: <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.lives()
			test.breaks(f)
			dsn := f.DSN("encrypt=disable")
			if f.anybody {
				f.User, f.Password = "nobody_of_this_name", "wrong"
			}
			told, wrong := judge(t.Context(), dsn)
			if said := strings.Join(wrong, "\n"); test.wrong == "" && said != "" || !strings.Contains(said, test.wrong) {
				t.Errorf("it finds %q, and tells\n%s", said, strings.Join(told, "\n"))
			}
		})
	}
}

const delayed = "WAITFOR DELAY '00:00:30'; SELECT 1"

// lives has the stub create and drop databases, and refuse and wait as a server does.
func (f *fake) lives() {
	for id, name := range judgedNames {
		in := "DATABASE [" + strings.ReplaceAll(name, "]", "]]") + "]"
		f.AnswerBy("CREATE "+in, func(tdstest.Query) tdstest.Answer {
			if f.mangles {
				name = strings.ReplaceAll(name, "]", "")
			}
			f.databases = append(f.databases, row{100 + id, name, 0, 1, false})
			return tdstest.Answer{Columns: []string{""}}
		})
		f.AnswerBy("DROP "+in, func(tdstest.Query) tdstest.Answer {
			f.databases = f.databases[:len(f.databases)-1]
			return tdstest.Answer{Columns: []string{""}}
		})
	}
	f.Answer("SELECT a FROM muster_has_no_such_view", tdstest.Answer{Error: &tdstest.Error{Number: 208, Class: 16, Text: "Invalid object name"}})
	f.Answer("SELECT N'öß😀'", tdstest.Answer{Rows: []row{{"öß😀"}}})
	f.Answer(delayed, tdstest.Answer{Columns: []string{""}, Then: tdstest.Stall})
}

// standIn is the directory of an installed Babelfish, of which each program writes down what it is asked.
func standIn(t *testing.T, control bool) (dir, log string) {
	t.Helper()
	dir = t.TempDir()
	log = filepath.Join(dir, "log")
	for program, does := range map[string]string{
		"initdb": `mkdir "$2"`, "pg_ctl": "", "psql": "", "pg_config": "echo " + dir + "/share",
	} {
		text := "#!/bin/sh\necho " + program + ` "$@" >>` + log + "\n" + does + "\n"
		write(t, filepath.Join(dir, "bin", program), text)
	}
	if control {
		write(t, filepath.Join(dir, "share/extension/babelfishpg_tds.control"), "")
	}
	return dir, log
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // G306: it is a program
		t.Fatal(err)
	}
}

// TestTheScriptThatStartsBabelfish refuses what is none, runs a command beside one, and leaves nothing. No Babelfish is at
// hand, so it starts a stand-in.
func TestTheScriptThatStartsBabelfish(t *testing.T) {
	t.Parallel()
	plain, _ := standIn(t, false)
	whole, log := standIn(t, true)
	for name, test := range map[string]struct {
		babelfish string
		command   string
		status    int
		says      string
	}{
		"nothing is named":                {"", "true", 2, "BABELFISH has to name the directory"},
		"the directory has no programs":   {t.TempDir(), "true", 2, "has no bin/initdb"},
		"a PostgreSQL without extensions": {plain, "true", 2, "without the extension babelfishpg_tds"},
		"a Babelfish":                     {whole, `echo "at $MUSTER_TEST_SQLSERVER"; exit 3`, 3, "at sqlserver://judge:judge@127.0.0.1:"},
	} {
		run := exec.CommandContext(t.Context(), "bash", "../../../../scripts/babelfish.sh", "sh", "-c", test.command)
		temporary := t.TempDir()
		run.Env = append(os.Environ(), "BABELFISH="+test.babelfish, "TMPDIR="+temporary)
		said, err := run.CombinedOutput()
		if run.ProcessState.ExitCode() != test.status || !strings.Contains(string(said), test.says) {
			t.Errorf("%s: %v: %s", name, err, said)
		}
		if left, _ := os.ReadDir(temporary); len(left) > 0 {
			t.Errorf("%s: it leaves %v", name, left)
		}
	}
	asked, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"pg_config --sharedir", "initdb -D ", "-w start", "CREATE ROLE judge", "CREATE EXTENSION babelfishpg_tds CASCADE",
		"CALL sys.initialize_babelfish('judge')", "-m immediate -w stop",
	} {
		next := strings.Index(string(asked[at:]), want)
		if next < 0 {
			t.Fatalf("after %d bytes it is not asked %q:\n%s", at, want, asked)
		}
		at += next
	}
}
