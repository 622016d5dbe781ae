package servers_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/internal/servers"
	"muster/internal/servers/tdstest"
	"muster/internal/servers/tnstest"
)

// TestF20ListsOfHashesAreParameters: the server sees one text for lists of any length up to a size, and their values
// beside it. What the name of a database holds is no list.
func TestF20ListsOfHashesAreParameters(t *testing.T) {
	t.Parallel()
	const statement = "-- texts\nSELECT hash FROM [@list\n--list aa,bb].sys.x WHERE hash IN (@list)"
	stub := tdstest.Start(t, tdstest.Options{})
	stub.Answer(statement, tdstest.Answer{Rows: [][]any{{"x"}}})
	s, err := openSQLServer(t, new(servers.Reach), stub, "encrypt=disable", "")
	if err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for n := range 20 {
		hashes = append(hashes, fmt.Sprintf("0x%016x", 0x7EEDFACECAFE0000+n))
		if _, err := servers.Ask(t.Context(), s, servers.Statement{Columns: 1, Text: statement, List: hashes}); err != nil {
			t.Fatal(err)
		}
	}
	texts := map[string]bool{}
	for _, q := range stub.Queries() {
		texts[q.Text] = true
	}
	if len(texts) != 1 || !texts[strings.Replace(statement, "IN (@list)", "IN (@p2, @p3, @p4, @p5, @p6, @p7, @p8, @p9, @p10, @p11, @p12, @p13, @p14, @p15, @p16, @p17, @p18, @p19, @p20, @p21)", 1)] {
		t.Errorf("%d texts: %v", len(texts), texts)
	}
	for n, hash := range hashes {
		value, err := hex.DecodeString(hash[2:])
		if err != nil || stub.Sent(value) < 20-n {
			t.Errorf("%s was sent %d times, %v", hash, stub.Sent(value), err)
		}
	}
}

// TestF36ListsOfSQLIDsAreParameters: one text for lists of any length up to a size, and each text says that it is
// Muster's, by which it is left out of what is measured (F14).
func TestF36ListsOfSQLIDsAreParameters(t *testing.T) {
	t.Parallel()
	const statement = "-- Oracle 12.2+: texts, and an apostrophe's\nSELECT sql_id, 'HH24:MI' FROM v$sql WHERE sql_id IN (@list)"
	l := tnstest.Start(t, tnstest.Options{})
	l.Answer("SELECT sql_id, 'HH24:MI' FROM v$sql WHERE sql_id IN (:1, :2, :3, :4, :5, :6, :7, :8, :9, :10, :11, :12, :13, :14, :15, :16, :17, :18, :19, :20)",
		tnstest.Answer{Columns: 2, Rows: [][]string{{"x", "y"}}})
	s := signedIn(t, l, time.Minute)
	var ids []string
	for n := range 20 {
		ids = append(ids, fmt.Sprintf("0w2qpuc6u2z%02d", n))
		if _, err := servers.Ask(t.Context(), s, servers.Statement{Columns: 2, Text: statement, List: ids}); err != nil {
			t.Fatal(err)
		}
	}
	sent := string(l.Heard())
	for n, id := range ids {
		if got := strings.Count(sent, id); got < 20-n {
			t.Errorf("%s was sent %d times", id, got)
		}
	}
	if !strings.Contains(sent, "/* muster */ SELECT sql_id") || strings.Contains(strings.Join(l.Asked(), ""), "0w2qpuc6u2z") {
		t.Errorf("sent %q", sent)
	}
}
