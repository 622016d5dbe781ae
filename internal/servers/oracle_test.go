package servers_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/user"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/servers"
	"muster/internal/servers/tnstest"
)

func oracle(t *testing.T, reach *servers.Reach, dsn string) servers.Target {
	t.Helper()
	target, err := reach.Target(fleet.Oracle, dsn)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// signedIn is a session on a listener that lets everybody in.
func signedIn(t *testing.T, l *tnstest.Listener, timeout time.Duration) servers.Session {
	t.Helper()
	target := oracle(t, new(servers.Reach), l.DSN(""))
	s, err := target.Open(t.Context(), target.Database, timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// TestF39TransactionsAreForRowsOfTables: what reads the server's views alone needs one round trip, and rolls nothing back.
func TestF39TransactionsAreForRowsOfTables(t *testing.T) {
	t.Parallel()
	l := tnstest.Start(t, tnstest.Options{})
	l.Answer("SELECT 1", tnstest.Answer{Columns: 1, Rows: [][]string{{"1"}}})
	s := signedIn(t, l, time.Minute)
	for tables, want := range map[bool]int{false: 0, true: 1} {
		before := len(l.Asked())
		if _, err := servers.Ask(t.Context(), s, servers.Statement{Columns: 1, Text: "SELECT 1", Tables: tables}); err != nil {
			t.Fatal(err)
		}
		transactions := 0
		for _, text := range l.Asked()[before:] {
			if text == "SET TRANSACTION READ ONLY" {
				transactions++
			}
		}
		if transactions != want {
			t.Errorf("a statement whose Tables is %t takes %d transactions", tables, transactions)
		}
	}
}

func TestOracleGivesRowsAsText(t *testing.T) {
	t.Parallel()
	l := tnstest.Start(t, tnstest.Options{Package: 6550}) // nobody may run DBMS_APPLICATION_INFO
	const query = "-- 12.2 and newer: what a server's \"statement\" does.\n-- It's Oracle's.\nSELECT a, b FROM v$x\nWHERE c = 'd'"
	long := strings.Repeat("ß😀", 500)
	rows := [][]string{{"18446744073709551615", "0.25"}, {"", "Robert'); DROP TABLE \"x\"; -- 😀"}, {long, ""}}
	for range 5000 {
		rows = append(rows, []string{"a", "b"})
	}
	l.Answer("SELECT a, b FROM v$x", tnstest.Answer{Columns: 2, Rows: rows})
	s := signedIn(t, l, time.Minute)
	for range 2 {
		n := 0
		err := s.Each(t.Context(), servers.Statement{Columns: 2, Text: query}, func(row [][]byte) error {
			for i, value := range row {
				if string(value) != rows[n][i] || (value == nil) != (rows[n][i] == "") {
					return fmt.Errorf("row %d has %q, want %q", n, value, rows[n][i])
				}
			}
			n++
			return nil
		})
		if err != nil || n != len(rows) {
			t.Fatalf("%d rows, %v", n, err)
		}
	}
	asked := l.Asked()
	if last := asked[len(asked)-1]; !strings.HasPrefix(last, "SELECT a, b") || !strings.HasSuffix(last, "'d'") {
		t.Errorf("the statement came as %q", last)
	}
	enough := errors.New("enough")
	if err := s.Each(t.Context(), servers.Statement{Columns: 2, Text: query}, func([][]byte) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	if _, err := servers.Query(t.Context(), s, 3, query); err == nil || s.Closed() {
		t.Errorf("two columns are taken for three: %v", err)
	}
	if _, err := servers.Query(t.Context(), s, 2, query); err != nil {
		t.Error(err)
	}
}

func TestNumbersOfOracleAreTheirDigits(t *testing.T) {
	t.Parallel()
	l := tnstest.Start(t, tnstest.Options{})
	numbers := []string{"0", "1", "-1", "100", "10", "1790000000000000", "18446744073709551615", "0.25", "-330", "0.001", "-0.5", "1234567.125", "99999999999999999999999999999999999999", ""}
	var rows [][]string
	for _, n := range numbers {
		rows = append(rows, []string{n, "x"})
	}
	l.Answer("SELECT n", tnstest.Answer{Columns: 2, Numbers: []int{0}, Rows: rows})
	got, err := servers.Query(t.Context(), signedIn(t, l, time.Minute), 2, "SELECT n")
	if err != nil || len(got) != len(rows) {
		t.Fatal(got, err)
	}
	for i, row := range got {
		if row[0] != numbers[i] || row[1] != "x" {
			t.Errorf("%q comes as %q", numbers[i], row)
		}
	}
}

func TestAnotherContainerIsAPluggableDatabase(t *testing.T) {
	t.Parallel()
	l := tnstest.Start(t, tnstest.Options{})
	target := oracle(t, new(servers.Reach), l.DSN(""))
	s, err := target.Open(t.Context(), "PDB 1 😀", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	s.Close(t.Context())
	if asked := strings.Join(l.Asked(), "\n"); s.Database() != "PDB 1 😀" || !strings.Contains(asked, `SET CONTAINER = "PDB 1 😀"`) {
		t.Errorf("%s: %s", s.Database(), asked)
	}
	for _, name := range []string{`x" y`, "", "x\x00"} {
		var unreached *servers.ConnectionError
		if _, err := target.Open(t.Context(), name, time.Second); !errors.As(err, &unreached) || unreached.Class != servers.ClassDatabase {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestReasonsWhyOracleIsUnreachable has the sentence of every listed number, from the listener and from
// the login.
func TestReasonsWhyOracleIsUnreachable(t *testing.T) {
	t.Parallel()
	classes := map[string]map[string][]int{
		servers.ClassAuthentication: {
			"wrong user or password": {1005, 1017}, "newer clients only": {28040}, "trigger": {604, 4088, 16000, 20001},
			"admit passwords": {12637}, "locked": {28000}, "expired": {28001}, "CREATE SESSION": {1045},
		},
		servers.ClassDatabase: {
			`no service "orders.example.com"`: {12505, 12514, 12521}, "SET CONTAINER": {65011, 600},
		},
		servers.ClassRefused: {
			"there are too many": {18, 20, 12516, 12518, 12519, 12520}, "starting, stopping": {1033, 1034, 1035, 1089, 1109, 12526, 12527, 12528},
			"Connection refused": {12541}, "closed it": {3113, 3114, 3135, 12537, 12547}, "not take connections from here": {12506, 12564},
		},
		servers.ClassTimeout: {"in time": {12170, 12535}},
		servers.ClassTLS:     {"TLS": {28860, 29024}, "native network encryption": {12269, 12650, 12660}},
	}
	for class, sentences := range classes {
		for sentence, numbers := range sentences {
			for _, number := range numbers {
				for of, o := range map[string]tnstest.Options{"listener": {Refuse: number}, "login": {Login: number}} {
					t.Run(fmt.Sprintf("%d from the %s", number, of), func(t *testing.T) {
						t.Parallel()
						unreached(t, oracle(t, new(servers.Reach), tnstest.Start(t, o).DSN("")), class, sentence)
					})
				}
			}
		}
	}
}

func unreached(t *testing.T, target servers.Target, class, sentence string) {
	t.Helper()
	_, err := target.Open(t.Context(), target.Database, time.Second)
	unreachedBy(t, err, class, sentence)
}

func unreachedBy(t *testing.T, err error, class, sentence string) {
	t.Helper()
	var e *servers.ConnectionError
	if !errors.As(err, &e) || e.Class != class || !strings.Contains(e.Sentence, sentence) {
		t.Errorf("got %v, want %s: …%s…", err, class, sentence)
	}
	for _, secret := range []string{"secret-of-the-server", "s3cr", "CARDS"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error quotes: %v", err)
		}
	}
}

func TestBadDaysOfAListener(t *testing.T) {
	t.Parallel()
	secured := httptest.NewTLSServer(nil)
	t.Cleanup(secured.Close)
	// Accepted, and then a server that has no capabilities, where the driver takes the sixth.
	panics := append([]byte{0, 32, 0, 0, 2, 0, 0, 0, 1, 58, 0, 0, 32, 0, 32, 0, 0, 1, 0, 0, 0, 32}, make([]byte, 10)...)
	panics = append(panics, 0, 90, 0, 0, 6, 0, 0, 0, 0, 0, 1, 6, 0, 'x')
	panics = append(panics, make([]byte, 90-14)...)
	for name, test := range map[string]struct {
		options         tnstest.Options
		parameters      string
		class, sentence string
	}{
		"hangs":                    {tnstest.Options{Silent: true}, "", servers.ClassTimeout, "did not answer within"},
		"hangs once it accepted":   {tnstest.Options{Mute: true}, "", servers.ClassTimeout, "did not answer within"},
		"hangs before TLS":         {tnstest.Options{Silent: true}, "sslmode=require", servers.ClassTimeout, "did not answer within"},
		"resets":                   {tnstest.Options{Reset: true}, "", servers.ClassRefused, "closed it"},
		"resets before TLS":        {tnstest.Options{Reset: true}, "sslmode=require", servers.ClassRefused, "closed it"},
		"an unknown certificate":   {tnstest.Options{TLS: secured.TLS}, "sslmode=verify-full", servers.ClassTLS, "does not verify"},
		"TLS that nobody asks for": {tnstest.Options{TLS: secured.TLS}, "", servers.ClassRefused, "register it with sslmode=verify-full"},
		"alerts in TLS":            {tnstest.Options{Banner: []byte("\x15\x03\x03\x00\x02\x02\x46")}, "", servers.ClassTLS, "register it with sslmode=verify-full"},
		"no TLS":                   {tnstest.Options{Banner: []byte("\x00\x0c\x00\x00\x04\x00\x00\x00\x04\x04\x00\x00")}, "sslmode=require", servers.ClassTLS, "TLS is off there"},
		"speaks HTTP":              {tnstest.Options{Banner: []byte("HTTP/1.1 400 Bad Request\r\n\r\n")}, "", servers.ClassDatabase, "not as an Oracle listener"},
		"speaks SSH":               {tnstest.Options{Banner: []byte("SSH-2.0-OpenSSH_9.2p1\r\n")}, "", servers.ClassDatabase, "not as an Oracle listener"},
		"speaks MySQL":             {tnstest.Options{Banner: []byte("\x4a\x00\x00\x00\x0a8.0.36\x00")}, "", servers.ClassDatabase, "not as an Oracle listener"},
		"speaks PostgreSQL":        {tnstest.Options{Banner: []byte("E\x00\x00\x00\x8bSFATAL\x00C0A000\x00")}, "", servers.ClassDatabase, "not as an Oracle listener"},
		"sends nothing but zeros":  {tnstest.Options{Banner: make([]byte, 64)}, "", servers.ClassDatabase, "not as an Oracle listener"},
		"a length of nothing":      {tnstest.Options{Banner: []byte("\x00\x07\x00\x00\x02\x00\x00\x00")}, "", servers.ClassDatabase, "not as an Oracle listener"},
		"an acceptance too short":  {tnstest.Options{Banner: []byte("\x00\x09\x00\x00\x02\x00\x00\x00\x01")}, "", servers.ClassDatabase, "not as an Oracle listener"},
		"makes the driver panic":   {tnstest.Options{Banner: panics}, "", servers.ClassDatabase, "not as an Oracle listener"},
		"requires encryption":      {tnstest.Options{Services: 12269}, "", servers.ClassTLS, "native network encryption of a kind that Muster's driver does not have (ORA-12269)"},
		"admits no passwords":      {tnstest.Options{Services: 12637}, "", servers.ClassAuthentication, "SQLNET.AUTHENTICATION_SERVICES"},
		"refuses the settings":     {tnstest.Options{Settings: 3113}, "", servers.ClassRefused, "closed it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if strings.HasPrefix(name, "hangs") {
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			target := oracle(t, new(servers.Reach), tnstest.Start(t, test.options).DSN(test.parameters))
			_, err := target.Open(ctx, target.Database, time.Second)
			unreachedBy(t, err, test.class, test.sentence)
		})
	}
	t.Run("nothing listens", func(t *testing.T) {
		t.Parallel()
		unreached(t, oracle(t, new(servers.Reach), "oracle://u:p@127.0.0.1:1/x"), servers.ClassRefused, "Connection refused")
	})
	t.Run("TLS", func(t *testing.T) {
		t.Parallel()
		l := tnstest.Start(t, tnstest.Options{TLS: secured.TLS})
		l.Answer("SELECT 1", tnstest.Answer{Columns: 1, Rows: [][]string{{"1"}}})
		target := oracle(t, new(servers.Reach), l.DSN("sslmode=require"))
		s, err := target.Open(t.Context(), target.Database, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if row, err := servers.Row(t.Context(), s, 1, "SELECT 1"); err != nil || row[0] != "1" {
			t.Errorf("got %v, %v", row, err)
		}
		s.Close(t.Context())
	})
}

// TestRefusalsOfOracle: a refusal has its number and a reason and nothing else, and the
// session goes on unless it was the session's end.
func TestRefusalsOfOracle(t *testing.T) {
	t.Parallel()
	l := tnstest.Start(t, tnstest.Options{})
	l.Answer("SELECT 1", tnstest.Answer{Columns: 1, Rows: [][]string{{"1"}}})
	for reason, numbers := range map[servers.Reason][]int{
		servers.Denied: {942, 1031, 41900}, servers.Absent: {904, 4043}, servers.TimedOut: {1013, 54, 4021},
		servers.Failed: {1555, 4031, 600, 3113, 1012},
	} {
		for _, number := range numbers {
			t.Run(fmt.Sprint(number), func(t *testing.T) {
				t.Parallel()
				query := fmt.Sprintf("SELECT %d", number)
				l.Answer(query, tnstest.Answer{Columns: 1, Rows: [][]string{{"1"}}, Error: number})
				s := signedIn(t, l, time.Minute)
				_, err := servers.Query(t.Context(), s, 1, query)
				gone := number == 3113 || number == 1012 || number == 1013
				var refusal *servers.Refusal
				switch {
				case s.Closed() != gone:
					t.Errorf("the session is closed: %t", s.Closed())
				case number == 3113 || number == 1012: // the driver keeps the number for itself
					if err == nil {
						t.Error("no error")
					}
				case !errors.As(err, &refusal) || refusal.Reason != reason || err.Error() != fmt.Sprintf("ORA-%05d", number):
					t.Errorf("got %v, want %s", err, reason)
				}
				if err != nil && strings.Contains(err.Error(), "secret") {
					t.Errorf("the error quotes: %v", err)
				}
				if row, err := servers.Row(t.Context(), s, 1, "SELECT 1"); !gone && (err != nil || row[0] != "1") {
					t.Errorf("afterwards: %v, %v", row, err)
				}
			})
		}
	}
}

// TestAnAnswerThatBreaksOff in the middle of rows: the session ends, and ends in time.
func TestAnAnswerThatBreaksOff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		then       tnstest.Fault
		interrupts int
	}{
		"stalls": {tnstest.Stall, 1}, "is cut": {tnstest.Cut, 0}, "makes no sense": {tnstest.Nonsense, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := tnstest.Start(t, tnstest.Options{})
			l.Answer("SELECT 1", tnstest.Answer{Columns: 1, Rows: [][]string{{"1"}}, Then: test.then})
			timeout := time.Minute
			if test.interrupts > 0 {
				timeout = time.Second
			}
			s := signedIn(t, l, timeout)
			_, err := servers.Query(t.Context(), s, 1, "SELECT 1")
			var refusal *servers.Refusal
			if stalls := errors.As(err, &refusal) && refusal.Reason == servers.TimedOut; stalls != (test.interrupts > 0) || err == nil {
				t.Errorf("got %v", err)
			}
			if !s.Closed() || l.Interrupts() != test.interrupts {
				t.Errorf("closed: %t; %d interrupts", s.Closed(), l.Interrupts())
			}
			if err != nil && strings.Contains(err.Error(), "TTC") {
				t.Errorf("the driver's words: %v", err)
			}
			if _, err := servers.Query(t.Context(), s, 1, "SELECT 1"); err == nil {
				t.Error("a session that is gone answers")
			}
		})
	}
	t.Run("stalls after many rows", func(t *testing.T) {
		t.Parallel()
		l := tnstest.Start(t, tnstest.Options{})
		l.Answer("SELECT 1", tnstest.Answer{Columns: 1, Rows: slices.Repeat([][]string{{"1"}}, 2500), Then: tnstest.Deaf})
		const timeout = 3 * time.Second // for the two thousand that come
		s := signedIn(t, l, timeout)
		n, began := 0, time.Now()
		err := s.Each(t.Context(), servers.Statement{Columns: 1, Text: "SELECT 1"}, func([][]byte) error { n++; return nil })
		if took := time.Since(began); servers.ReasonOf(err) != servers.TimedOut || !s.Closed() || n != 2000 || took > timeout+4*time.Second {
			t.Errorf("closed: %t; %d rows in %s, %v", s.Closed(), n, took, err)
		}
	})
	t.Run("nobody waits any longer", func(t *testing.T) {
		t.Parallel()
		l := tnstest.Start(t, tnstest.Options{})
		l.Answer("SELECT 1", tnstest.Answer{Columns: 1, Then: tnstest.Deaf})
		s := signedIn(t, l, time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := servers.Query(ctx, s, 1, "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) || !s.Closed() {
			t.Errorf("closed: %t, %v", s.Closed(), err)
		}
	})
}

// Not parallel: it changes the environment, which must not reach a server either.
func TestTheEnvironmentOfOracleIsNeverConsulted(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tnsnames.ora": "orders.example.com=(DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.9)(PORT=1)))",
		"sqlnet.ora":   "SQLNET.AUTHENTICATION_SERVICES=(ALL)\nWALLET_LOCATION=(SOURCE=(METHOD_DATA=(DIRECTORY=" + dir + ")))",
	} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for variable, value := range map[string]string{
		"TNS_ADMIN": dir, "ORACLE_HOME": dir, "ORACLE_SID": "env-sid", "TWO_TASK": "env-task", "LOCAL": "env-local", "HOME": dir,
		"NLS_LANG": "GERMAN_GERMANY.WE8ISO8859P1", "USER": "env-user", "LOGNAME": "env-user", "http_proxy": "http://127.0.0.1:1",
	} {
		t.Setenv(variable, value)
	}
	l := tnstest.Start(t, tnstest.Options{})
	s := signedIn(t, l, time.Second)
	s.Close(t.Context())
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	heard := string(l.Heard())
	for _, theirs := range []string{host, dir, "env-", "GERMAN", "s3cr?t", os.Args[0]} {
		if strings.Contains(heard, theirs) {
			t.Errorf("the listener heard %q", theirs)
		}
	}
	if me, err := user.Current(); err == nil && me.Username != "" && strings.Contains(heard, "(USER="+me.Username+")") {
		t.Errorf("the listener heard who we are")
	}
	if !strings.Contains(heard, "(SERVICE_NAME=orders.example.com)") || !strings.Contains(heard, "muster") {
		t.Errorf("the listener heard %q", heard)
	}
}
