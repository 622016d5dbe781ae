package collect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/assessment/changes"
	"muster/internal/report/snapshot"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
)

// told are the assessments of an instance that the log knows, oldest first.
func (s *scene) told(instance uuid.UUID) (all []fleet.InstanceAssessed) {
	s.Helper()
	var rows [][]byte
	if err := s.db.Select(&rows, `SELECT data FROM events WHERE log = 'fleet' AND stream_id = $1 ORDER BY position`, fleet.AssessmentsOf(instance)); err != nil {
		s.Fatal(err)
	}
	for _, row := range rows {
		var e fleet.InstanceAssessed
		if err := json.Unmarshal(row, &e); err != nil {
			s.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func (s *scene) assess(instance uuid.UUID) {
	s.Helper()
	if err := s.collector.AssessNow(s.Context(), s.organization, instance); err != nil {
		s.Fatal(err)
	}
}

// changed are what the last event of an instance tells, by the values that are kept.
func (s *scene) changed(instance uuid.UUID) string {
	s.Helper()
	all := s.told(instance)
	last := all[len(all)-1]
	values, err := changes.ValuesOf(s.Context(), s.db, s.organization, []uuid.UUID{last.AssessmentID})
	if err != nil {
		s.Fatal(err)
	}
	word := func(text *string) string {
		if text == nil {
			return "-"
		}
		return *text
	}
	var lines []string
	for nth, c := range last.Changes {
		v := values[changes.Place{Assessment: last.AssessmentID, Nth: nth}]
		lines = append(lines, fmt.Sprintf("%s %s: %s > %s", c.Kind, v.Name, word(v.Before), word(v.After)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestChangesOfAServerAreRecordedWithoutSecrets: a real server changes between two looks, and secrets are
// planted in all that is compared. No secret is in the log or beside it.
func TestChangesOfAServerAreRecordedWithoutSecrets(t *testing.T) {
	t.Parallel()
	clocktest.Stay(timegrid.Day.Width(), time.Minute) // each day has an event of its own
	const planted = "pl4nted"
	s := newScene(t)
	server := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{
		"archive_command": "'echo " + planted + "1'", "app.jwt_secret": "'" + planted + "2'", "primary_conninfo": "'host=x password=" + planted + "3'",
	}})
	admin := pgtest.Connect(t, server.Superuser())
	var file string
	if err := admin.Get(&file, `SHOW hba_file`); err != nil {
		t.Fatal(err)
	}
	rules := func(lines string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("local all all trust\nhost all all 127.0.0.1/32 trust\n"+lines), 0o600); err != nil {
			t.Fatal(err)
		}
		admin.MustExec(`SELECT pg_reload_conf()`)
	}
	rules("host all all 10.0.0.0/8 ldap ldapserver=ldap.example ldapbasedn=\"dc=x\" ldapbindpasswd=\"" + planted + "4\"\n")
	instance := s.register(server.TCPURL(pgtest.Superuser, "postgres"))
	s.assess(instance)
	first := s.told(instance)
	if len(first) != 1 || first[0].Score == nil || len(first[0].Domains) != 5 || len(first[0].Changes) != 0 || first[0].InstanceID != instance {
		t.Fatalf("%+v", first)
	}
	s.assess(instance)
	if again := s.told(instance); len(again) != 1 {
		t.Fatalf("an unchanged server made %+v", again[1:])
	}

	for _, statement := range []string{
		`ALTER SYSTEM SET work_mem = '8MB'`, `ALTER SYSTEM SET archive_command = 'echo ` + planted + `5'`, `ALTER SYSTEM SET app.jwt_secret = '` + planted + `6'`,
		`ALTER SYSTEM SET primary_conninfo = 'host=x password=` + planted + `7'`, `CREATE ROLE dana LOGIN PASSWORD '` + planted + `8'`, `GRANT pg_monitor TO dana`,
		`CREATE DATABASE fresh`, `GRANT CREATE ON DATABASE postgres TO dana`, `CREATE EXTENSION pgcrypto`,
	} {
		admin.MustExec(statement)
	}
	rules("host all all 10.0.0.0/8 ldap ldapserver=ldap.example ldapbasedn=\"dc=x\" ldapbindpasswd=\"" + planted + "9\"\nhost all dana 10.1.0.0/16 reject\n")
	loaded := func() (ok bool) {
		if err := admin.Get(&ok, `SELECT count(*) = 4 FROM pg_hba_file_rules`); err != nil {
			t.Fatal(err)
		}
		var memory string
		if err := admin.Get(&memory, `SHOW work_mem`); err != nil {
			t.Fatal(err)
		}
		return ok && memory == "8MB"
	}
	for end := time.Now().Add(20 * time.Second); !loaded(); {
		if time.Now().After(end) {
			t.Fatal("the server does not read its configuration again")
		}
	}
	s.assess(instance)
	want := strings.Join([]string{
		"extension pgcrypto in postgres: - > 1.3",
		"grant dana in pg_monitor: - > member",
		"grant dana on database postgres: - > CREATE",
		"hba host all all 10.0.0.0 255.0.0.0 ldap ldapserver=ldap.example ldapbasedn=… ldapbindpasswd=… ldapscope=2: - > -",
		"hba host all dana 10.1.0.0 255.255.0.0 reject: - > host all dana 10.1.0.0 255.255.0.0 reject",
		"role dana: - > LOGIN",
		"setting archive_command: - > -",
		"setting primary_conninfo: - > -",
		"setting work_mem: 4096 kB > 8192 kB",
	}, "\n")
	if got := s.changed(instance); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	last := s.told(instance)[len(s.told(instance))-1]
	for _, c := range last.Changes {
		if named := c.Key == "work_mem" || c.Key == "archive_command" || c.Key == "primary_conninfo"; named != (c.Kind == fleet.ChangedSetting && c.Key != "" && !isDigest(c.Key)) || c.Before == c.After {
			t.Errorf("%+v", c)
		}
	}
	value := regexp.MustCompile(`"8192[" ]`) // digests may have these digits by chance
	for i, query := range []string{
		`SELECT coalesce(string_agg(convert_from(data, 'UTF8') || convert_from(metadata, 'UTF8'), ''), '') FROM events`,
		`SELECT coalesce(string_agg(v::text, ''), '') FROM instance_change_values v`, `SELECT coalesce(string_agg(v::text, ''), '') FROM instance_states v`,
	} {
		var text string
		if err := s.db.Get(&text, query); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, planted) {
			t.Errorf("%s holds a secret", query)
		}
		if i == 0 && (!strings.Contains(text, "work_mem") || strings.Contains(text, "dana") || value.MatchString(text) || strings.Contains(text, "10.1.0.0")) {
			t.Error("an event holds a name or a value")
		}
	}

	// What an organization no longer wants kept goes, and the log stays.
	s.db.MustExec(`INSERT INTO organizations (id, name, created_at) VALUES ($1, 'acme', now())`, s.organization)
	s.db.MustExec(`UPDATE organizations SET inputs_retention_days = 5`)
	s.db.MustExec(`UPDATE instance_change_values SET recorded_at = recorded_at - interval '6 days' WHERE nth = 0`)
	if _, err := s.store.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(s.changed(instance), ": - > -"); n != 4 { // three secrets, and what was pruned
		t.Errorf("%d\n%s", n, s.changed(instance))
	}
	if err := s.store.Forget(t.Context(), s.db, s.organization, instance); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := s.db.Get(&left, `SELECT (SELECT count(*) FROM instance_change_values) + (SELECT count(*) FROM instance_states)`); err != nil || left > 0 {
		t.Errorf("%d rows stay of a removed instance, %v", left, err)
	}
}

func isDigest(key string) bool {
	return len(key) == 32 && strings.Trim(key, "0123456789abcdef") == ""
}

// TestOneAssessmentOneEvent: replicas that are asked at once look once, and what is
// accepted does not count.
func TestOneAssessmentOneEvent(t *testing.T) {
	t.Parallel()
	clocktest.Stay(timegrid.Day.Width(), time.Minute) // each day has an event of its own
	s := newScene(t)
	server := pgtest.Cluster(t, pgtest.Options{})
	instance := s.register(server.TCPURL(pgtest.Superuser, "postgres"))
	var group sync.WaitGroup
	for range 4 {
		replica := s.anotherProcess()
		group.Go(func() {
			if err := replica.AssessNow(t.Context(), s.organization, instance); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	all := s.told(instance)
	if len(all) != 1 {
		t.Fatalf("%d events of %d looks", len(all), s.looks(instance))
	}
	failed := all[0].Domains[0].Failed
	if failed == 0 {
		t.Fatal("nothing of its security fails, so nothing can be accepted")
	}
	latest, _, err := s.store.Latest(t.Context(), s.organization, instance)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range latest.Results {
		if r.Status == snapshot.StatusFail {
			s.exceptions = append(s.exceptions, snapshot.Exception{ID: uuid.New(), CheckID: r.CheckID, Until: time.Now().Add(time.Hour)})
		}
	}
	s.assess(instance)
	all = s.told(instance)
	if last := all[len(all)-1]; len(all) != 2 || last.Domains[0].Failed != 0 || *last.Score <= *all[0].Score {
		t.Errorf("%+v", all)
	}
	// The next day has a score of its own, though it is the same.
	s.db.MustExec(`UPDATE instance_states SET told = replace(told::text, $1, $2)::json`, time.Now().UTC().Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))
	s.assess(instance)
	if all = s.told(instance); len(all) != 3 || *all[2].Score != *all[1].Score {
		t.Errorf("%+v", all)
	}
	// The stored state of it is damaged: the assessment continues, and this is reported.
	var altered []string
	s.store.Altered = func(sentence string) { altered = append(altered, sentence) }
	s.db.MustExec(`UPDATE instance_states SET state = '[]'`)
	s.assess(instance)
	if len(altered) != 1 {
		t.Errorf("told of damage: %q", altered)
	}
	// A server out of reach has none.
	server.Stop(t)
	s.db.MustExec(`UPDATE instance_states SET told = replace(told::text, $1, $2)::json`, time.Now().UTC().Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))
	s.assess(instance)
	if all = s.told(instance); len(all) != 3 {
		t.Errorf("out of reach, it has %+v", all[3:])
	}
	if none, err := s.collector.Fresh(context.WithoutCancel(t.Context()), uuid.New(), instance, 0); err == nil {
		t.Errorf("another organization assesses it: %+v", none)
	}
}
