package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/httpapi/api"
)

const backupsPath = "/ingest/v1/backups"

func (w *world) backups(as person, of uuid.UUID) (b api.Backups) {
	w.t.Helper()
	w.get(as, "/api/v1/instances/"+of.String()+"/backups").is(200).decode(&b)
	return b
}

// backup is one as a sender tells of it.
func (w *world) backup(instance, kind string, ago time.Duration, change members) members {
	return members{"instance": instance, "kind": kind, "startedAt": w.ago(ago + 10*time.Minute), "finishedAt": w.ago(ago), "sizeBytes": 812_000_000_000, "tool": "nightly.sh"}.with(change)
}

// TestBackupsAreShown as a sender tells of them: the newest of each kind, the age, and the days before.
func TestBackupsAreShown(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	if b := w.backups(w.ours.viewer, ids["orders"]); b.MeasuredAt != nil || len(b.Databases)+len(b.Sources) != 0 || b.RpoMinutes != 1440 || len(*b.History) != 30 || (*b.History)[0].Known {
		t.Errorf("nobody told of any: %+v", b)
	}
	for range 2 {
		told := in.send(backupsPath, members{"backups": []members{
			w.backup("orders", "base", 43*time.Hour, nil), w.backup("orders", "base", 20*time.Hour, members{"database": "d"}), w.backup("orders", "wal", time.Minute, members{"startedAt": nil, "tool": nil}),
		}}).is(202).object()
		if accepted := told["accepted"].(map[string]any)["backups"]; accepted != 3.0 {
			t.Errorf("%v", told)
		}
	}
	b := w.backups(w.ours.viewer, ids["orders"])
	if len(b.Databases) != 1 || b.Counts != (api.BackupCounts{Kept: 1}) || len(b.Sources) != 1 || b.Sources[0].Source != api.BackupSourceFeed {
		t.Fatalf("%+v", b)
	}
	d := b.Databases[0]
	if d.Database != nil || d.State != api.BackupKept || *d.AgeSeconds != 60 || !d.RestorableTo.Equal(w.ago(time.Minute)) || len(d.Backups) != 2 {
		t.Errorf("%+v", d)
	}
	if base := d.Backups[0]; base.Kind != api.BackupBase || !base.FinishedAt.Equal(w.ago(20*time.Hour)) || *base.SizeBytes != 812_000_000_000 || *base.Tool != "nightly.sh" {
		t.Errorf("%+v", base)
	}
	if today := (*b.History)[29]; !today.Known || !*today.Kept {
		t.Errorf("%+v", today)
	}
	if first := (*b.History)[0]; first.Known || first.Kept != nil || first.GreatestAgeSeconds != nil {
		t.Errorf("%+v", first)
	}
	w.get(w.ours.viewer, "/api/v1/instances/"+uuid.NewString()+"/backups").problem(404, "not_found")
	w.get(w.theirs.viewer, "/api/v1/instances/"+ids["orders"].String()+"/backups").problem(404, "not_found")
	somebody := w.person(w.ours.organization, organization.Team, w.ours.address("team"))
	w.get(somebody, "/api/v1/instances/"+ids["orders"].String()+"/backups").problem(404, "not_found")
}

// TestTheRPOIsSetByTag, as the threshold of its watch rule, also while that is off.
func TestTheRPOIsSetByTag(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	in.send(backupsPath, members{"backups": []members{w.backup("orders", "base", 20*time.Minute, nil), w.backup("billing", "base", 20*time.Minute, nil)}}).is(202)
	w.tag(w.ours.admin, ids["orders"], map[string]string{"env": "prod"}).is(200)
	w.do(request{as: w.ours.admin, method: "PUT", path: "/api/v1/watch-rules/backup_rpo", json: members{
		"tags": map[string][]string{"env": {"prod"}}, "enabled": false, "threshold": 15, "forSeconds": 0, "severity": "critical",
	}}).is(200)
	if b := w.backups(w.ours.viewer, ids["orders"]); b.RpoMinutes != 15 || b.Databases[0].State != api.BackupLate {
		t.Errorf("%+v", b)
	}
	if b := w.backups(w.ours.viewer, ids["billing"]); b.RpoMinutes != 1440 || b.Databases[0].State != api.BackupKept {
		t.Errorf("%+v", b)
	}
}

// TestInvalidBackupReportsAreRefused: broken rules are named by item and field, nothing is kept then, and a
// limited token keeps to its servers.
func TestInvalidBackupReportsAreRefused(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	for name, c := range map[string]struct {
		change members
		status int
		at     string
		code   string
	}{
		"an unknown instance":     {members{"instance": "nobody"}, 422, "#/backups/1/instance", "unknown_instance"},
		"an unknown database":     {members{"database": "nowhere"}, 422, "#/backups/1/database", "unknown_database"},
		"of the future":           {members{"finishedAt": w.ago(-6 * time.Minute)}, 422, "#/backups/1/finishedAt", "time_in_future"},
		"finished before started": {members{"startedAt": w.ago(time.Minute)}, 422, "#/backups/1/startedAt", "out_of_range"},
		"before 1970":             {members{"startedAt": nil, "finishedAt": "1969-12-31T23:59:59Z"}, 422, "#/backups/1/finishedAt", "out_of_range"},
		"a name that hides":       {members{"tool": "a\u202eb"}, 422, "#/backups/1/tool", "invalid_name"},
		"no such kind":            {members{"kind": "snapshot"}, 400, "#/backups/1/kind", "invalid_parameter"},
		"a size below zero":       {members{"sizeBytes": -1}, 400, "#/backups/1/sizeBytes", "invalid_parameter"},
	} {
		got := in.send(backupsPath, members{"backups": []members{w.backup("orders", "full", time.Hour, nil), w.backup("orders", "full", time.Hour, c.change)}}).problem(c.status, c.code).places()
		if !slices.Equal(got, bodyPlaces("", c.at, c.code)) {
			t.Errorf("%s: %v", name, got)
		}
	}
	huge := strings.ReplaceAll(`{"backups":[{"instance":"orders","kind":"full","finishedAt":"2020-01-01T00:00:00Z","sizeBytes":99999999999999999999}]}`, " ", "")
	w.do(request{method: "POST", path: backupsPath, token: in.token, body: huge, header: map[string]string{"Content-Type": "application/json"}}).problem(400, "invalid_parameter")
	limited := sender{w, w.ingestToken(w.ours.admin, ids["billing"])}
	got := limited.send(backupsPath, members{"backups": []members{w.backup("billing", "full", time.Hour, nil), w.backup("orders", "full", time.Hour, nil)}}).problem(403, "outside_token").places()
	if !slices.Equal(got, bodyPlaces("", "#/backups/1/instance", "outside_token")) {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"orders", "billing"} {
		if b := w.backups(w.ours.member, ids[name]); b.MeasuredAt != nil {
			t.Errorf("%+v", b)
		}
	}
	limited.send(backupsPath, members{"backups": []members{w.backup("billing", "full", time.Hour, nil)}}).is(202)
}

// TestAThousandDatabases are judged, and the worst 200 are shown.
func TestAThousandDatabases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	var databases, told []members
	for i := range 1000 {
		name := fmt.Sprintf("db%04d", i)
		databases = append(databases, members{"externalId": name, "name": name, "createdAt": w.ago(time.Hour)})
		told = append(told, w.backup("many", "full", time.Duration(i)*time.Minute*2, members{"database": name}))
	}
	made := in.send("/ingest/v1/fleet", members{"instances": []members{{"externalId": "many", "name": "many", "engine": "sqlserver", "createdAt": w.ago(time.Hour), "databases": databases}}}).is(200).object()
	id := uuid.MustParse(made["instances"].([]any)[0].(map[string]any)["id"].(string))
	in.send(backupsPath, members{"backups": told}).is(202)
	b := w.backups(w.ours.viewer, id)
	if b.Counts.Late != 279 || b.Counts.Kept != 721 || b.Omitted != 800 || len(b.Databases) != 200 || b.Databases[0].Database.Name != "db0999" {
		t.Errorf("%+v, omitted %d, first %+v", b.Counts, b.Omitted, b.Databases[0].Database)
	}
}

// TestBackupReportsOfAgentsAreShown: a source and its condition, the grant it lacks, and databases without a
// backup.
func TestBackupReportsOfAgentsAreShown(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	look := func(change members) members {
		return members{"instance": "orders", "at": w.ago(time.Minute), "source": "msdb", "condition": "works"}.with(change)
	}
	in.send(samplesPath, members{"backups": []members{look(members{
		"complete": []members{{"database": "d", "since": w.ago(72 * time.Hour), "noLog": true}, {"database": "nowhere", "since": w.ago(time.Hour)}},
	})}}).is(202)
	b := w.backups(w.ours.viewer, ids["orders"])
	if len(b.Databases) != 1 || b.Databases[0].State != api.BackupNone || b.Databases[0].HasLog || *b.Databases[0].AgeSeconds != 72*60*60 || b.Databases[0].Database.Name != "d" {
		t.Errorf("%+v", b.Databases)
	}
	in.send(samplesPath, members{"backups": []members{look(members{"at": w.ago(0), "condition": "unknown", "why": "Not granted.", "denied": "GRANT SELECT"})}}).is(202)
	if s := w.backups(w.ours.viewer, ids["orders"]).Sources; len(s) != 1 || s[0].Condition != api.BackupUnknown || *s[0].MissingGrant != "GRANT SELECT" || *s[0].Why != "Not granted." {
		t.Errorf("%+v", s)
	}
	got := in.send(samplesPath, members{"backups": []members{look(members{"instance": "nobody"})}}).problem(422, "unknown_instance").places()
	if !slices.Equal(got, bodyPlaces("", "#/backups/0/instance", "unknown_instance")) {
		t.Errorf("%v", got)
	}
}
