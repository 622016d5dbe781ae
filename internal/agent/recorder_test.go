package agent

import (
	"testing"

	"muster/internal/servers"
	"muster/internal/servers/serverstest"
)

// TestF48AReportShowsTheFormOfAColumn, and no value of it: a number of any size is one, a time shows how it is
// written, and a text with letters shows nothing.
func TestF48AReportShowsTheFormOfAColumn(t *testing.T) {
	t.Parallel()
	const query = "-- Oracle 12.2+: a query\nSELECT 1"
	s := serverstest.New("ERP")
	s.On(query, []string{"18446744073709551615", "2026-11-29/23:59:58", "hunter2", "1.5", "2026-11-29", "1234567890123456789012345678901234567890-1"},
		[]string{"-7", "2026-11-30/00:00:01", "2026-11-29", "2e3", "29.11.2026", "1"})
	var r recorder
	if _, err := servers.Query(t.Context(), r.session(s), 6, query); err != nil {
		t.Fatal(err)
	}
	columns := r.report()[0].Columns
	for i, want := range []ColumnReport{
		{Integers: 2, Longest: 20}, {Texts: 2, Longest: 19, Form: "9999-99-99/99:99:99"}, {Texts: 2, Longest: 10},
		{Decimals: 2, Longest: 3}, {Texts: 2, Longest: 10}, {Texts: 1, Integers: 1, Longest: 42},
	} {
		if columns[i] != want {
			t.Errorf("column %d: %+v, want %+v", i, columns[i], want)
		}
	}
}
