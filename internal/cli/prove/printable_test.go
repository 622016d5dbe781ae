package prove

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/printable"
	"muster/eventstore"
	"muster/projections/history"
)

// TestPrintedTextHasNoControlCharacters: names that came into the log before they were refused are cleaned
// where they are printed, and an event's JSON says the same.
func TestPrintedTextHasNoControlCharacters(t *testing.T) {
	t.Parallel()
	const name = "orders\u202e\u009b2J"
	id := uuid.New()
	if got := nameOf(map[uuid.UUID]string{id: name + "\nstatus Ready"}, id.String()); !printable.Name(got) {
		t.Errorf("a name is printed as %q", got)
	}
	var out bytes.Buffer
	if err := printHistory(&out, []history.ReportRow{{ID: id, ScopeLabel: name + "\r\n", CreatedAt: time.Unix(0, 0)}}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || !printable.Name(lines[1]) {
		t.Errorf("the history is printed as %q", out.String())
	}
	out.Reset()
	if err := printEvent(&out, eventstore.Event{Data: []byte(`{"name":"` + name + `"}`), Metadata: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	var shown struct{ Data struct{ Name string } }
	if line := strings.TrimSuffix(out.String(), "\n"); !printable.Name(line) || json.Unmarshal([]byte(line), &shown) != nil || shown.Data.Name != name {
		t.Errorf("an event is printed as %q", line)
	}
}
