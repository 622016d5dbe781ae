package httpapi

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
	"muster/internal/report/control/evidence"
)

// TestTheControlOfBackups: on how many days no database was older than the RPO, in the answer, the signed document and on
// paper. A day of which nothing is known is not kept, and neither is one on which nobody tells of a database.
func TestTheControlOfBackups(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	today := w.clock.Now().UTC().Truncate(day)
	in := sender{w, w.ingestToken(w.ours.admin)}
	var all []members
	backup := func(instance string, daysBefore int, database any) {
		at := today.AddDate(0, 0, -daysBefore).Add(-time.Hour) // 23:00 of the day before
		all = append(all, members{"instance": instance, "database": database, "kind": "full", "finishedAt": at})
	}
	for n := range 10 {
		if n != 4 { // then it is 25 hours old at the end of one day, and 47 on the next
			backup("orders", n, nil)
		}
		if n < 3 {
			backup("ledger", n, "d")
		}
	}
	in.send(backupsPath, members{"backups": all}).is(202)

	from, to := today.AddDate(0, 0, -8), w.clock.Now()
	if late := today.Add(22 * time.Hour); to.After(late) { // at 23:00 the last backup is a day old
		to = late
	}
	var control struct {
		Check struct{ ID, Title string }
		Items []struct {
			Instance   struct{ Name string }
			Periods    []struct{ State string }
			BackupDays *struct{ Kept, Late, None, Unknown int }
		}
	}
	path := "/api/v1/controls/BACKUP-RPO?" + url.Values{"from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339Nano)}}.Encode()
	w.get(w.ours.auditor, path).is(200).decode(&control)
	states := map[string]string{}
	for _, item := range control.Items {
		var words []string
		for _, p := range item.Periods {
			words = append(words, p.State)
		}
		states[item.Instance.Name] = fmt.Sprint(*item.BackupDays, " ", strings.Join(words, " "))
	}
	want := map[string]string{
		"orders": "{7 2 0 0} passed failed passed", "ledger": "{3 0 0 6} notAssessed passed", "billing": "{0 0 0 9} notAssessed",
	}
	for name, words := range want {
		if states[name] != words {
			t.Errorf("%s: %s, want %s", name, states[name], words)
		}
	}
	if len(states) != 3 || control.Check.ID != "BACKUP-RPO" {
		t.Errorf("%+v", control)
	}
	w.get(w.theirs.auditor, path+"&instanceId="+ids["orders"].String()).is(200).decode(&control)
	if len(control.Items) != 0 {
		t.Errorf("others see %+v", control.Items)
	}

	// Nobody tells of the new database of a server whose other database is backed up.
	w.fed(w.ours, inventory.Item{ExternalID: "ledger", Engine: domain.Oracle, CreatedAt: w.ago(30 * day), Databases: []inventory.Database{
		database("d", w.ago(30*day)), database("e", today.AddDate(0, 0, -1)),
	}})
	body := members{"check": "BACKUP-RPO", "from": from, "to": to, "instanceIds": []any{ids["orders"], ids["ledger"]}}
	_, d, err := evidence.Parse(w.evidenceFor(w.ours.auditor, body, "").is(200).Body.Bytes())
	must(t, err)
	var said []string
	for _, item := range d.Items {
		said = append(said, item.Instance.Name+": "+item.BackupDays.Words())
		if len(item.Assessments) != 0 || item.Periods[0].Assessments != 0 || item.BackupDays.RPOSeconds != 86400 {
			t.Errorf("%+v", item)
		}
	}
	if got, want := strings.Join(said, " "), "ledger: On 1 of 9 days no backup was older than 24 h. On 8 days that is not known. "+
		"orders: On 7 of 9 days no backup was older than 24 h. On 2 days one was."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if file := w.evidenceFor(w.ours.auditor, body, "application/pdf").is(200); !strings.HasPrefix(file.Body.String(), "%PDF-") {
		t.Error("no PDF")
	}
}
