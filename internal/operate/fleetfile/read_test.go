package fleetfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/fleet"
	"muster/internal/operate/fleetfile"
	"muster/internal/secrets/secretref"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// known is a catalogue of one check.
type known struct{}

func (known) Has(id string) bool { return id == "PG-S17" }

// reader resolves ${PW} to planted and ${OLD} to old.
func reader() fleetfile.Reader {
	return fleetfile.Reader{Checks: known{}, Now: noon, Secrets: secretref.Source{Lookup: func(name string) (string, bool) {
		return map[string]string{"PW": planted, "OLD": "old"}[name], true
	}}}
}

// planted is a secret: nothing that is printed holds it.
const planted = "pl4nted"

func read(t *testing.T, text string) fleetfile.File {
	t.Helper()
	f, faults := reader().Read([]byte(text))
	if len(faults) > 0 {
		t.Fatalf("%v", faults)
	}
	return f
}

func TestAFileIsRead(t *testing.T) {
	t.Parallel()
	f := read(t, `
settings:
  name: Acme
  reportRetentionDays: 60
  paperSize: Letter
  statementTexts: off
  sessionDetail: off
  watch: {volumePercent: 90, advisoryLocks: off}
instances:
  - externalId: pg-1
    name: Orders
    engine: postgresql
    dsn: postgres://muster:${PW}@db01/postgres
    host: db01.example
    active: false
    classify: off
  - {externalId: my-1, engine: mysql}
exceptions:
  - checkId: PG-S17
    instance: pg-1
    database: orders
    objectRef: public.t
    reason: "  because\n"
    until: 2027-03-01T01:00:00+01:00
`)
	if *f.Settings.Name != "Acme" || *f.Settings.ReportRetentionDays != 60 || *f.Settings.PaperSize != "Letter" || *f.Settings.StatementTexts != "off" || *f.Settings.SessionDetail != "off" ||
		*f.Settings.AdvisoryLocks != "off" || *f.Settings.VolumePercent != 90 || f.Settings.InputsRetentionDays != nil || f.Settings.SilentMinutes != nil {
		t.Errorf("settings %+v", f.Settings)
	}
	if len(f.Instances) != 2 || !f.Lists.Instances || !f.Lists.Exceptions {
		t.Fatalf("%+v", f)
	}
	first, second := f.Instances[0], f.Instances[1]
	if first.ExternalID != "pg-1" || *first.Name != "Orders" || first.Engine != fleet.PostgreSQL || first.DSN != "postgres://muster:pl4nted@db01/postgres" ||
		*first.Host != "db01.example" || *first.Active || first.Classify != "off" || first.Line != 10 {
		t.Errorf("%+v", first)
	}
	if second.ExternalID != "my-1" || second.Name != nil || second.Host != nil || second.Active != nil || second.DSN != "" || second.Classify != "" {
		t.Errorf("%+v", second)
	}
	want := fleetfile.Exception{Place: fleetfile.Place{Line: 19, Field: "exceptions[0]"}, CheckID: "PG-S17", Instance: "pg-1", Database: "orders",
		ObjectRef: "public.t", Reason: "because", Until: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)}
	if diff := cmp.Diff([]fleetfile.Exception{want}, f.Exceptions, cmp.Comparer(time.Time.Equal)); diff != "" {
		t.Error(diff)
	}
	if f := read(t, "settings: {}"); f.Lists.Instances || f.Lists.Exceptions {
		t.Errorf("lists that are not there: %+v", f.Lists)
	}
	if f := read(t, "instances: []"); !f.Lists.Instances || f.Lists.Exceptions {
		t.Errorf("an empty list: %+v", f.Lists)
	}
}

// TestEveryFaultIsReported with its line, field and rule, all at once.
func TestEveryFaultIsReported(t *testing.T) {
	t.Parallel()
	_, faults := reader().Read([]byte(`settings:
  reportRetentionDays: 400
  inputsRetentionDays: soon
  papersize: A4
  paperSize: A3
  statementTexts: on
  watch:
    silentMinutes: 0
    volumePercent: [90]
    nothing: 1
instances:
  - externalId: pg-1
    engine: postgres
    classify: all
    active: yes
  - engine: postgresql
    dsn: postgres://muster:hunter2@db01/postgres
  - externalId: 17
    engine: postgresql
    dsn: postgres://muster:${NOBODY}@db01/postgres
  - externalId: pg-1
    engine: postgresql
    dsn: postgres://muster@/postgres
    name: ""
  - externalId: pg-4
    engine: postgresql
    dsn: mysql://muster@db01/postgres
    passwordfile: x
    name: a
    name: b
  - externalId: pg-5
    engine: postgresql
    dsn: postgres://muster@db01/postgres
    passwordFile: /no/such/file
  - externalId: my-1
    engine: mysql
    dsn: mysql://u:${PW}@db01/m
  - externalId: my-2
    engine: mysql
    classify: names
  - externalId: "a\u202eb"
    engine: mysql
    name: "two\nlines"
  - pg-9
exceptions:
  - checkId: PG-X
    reason: ""
    until: tomorrow
  - checkId: PG-X
    reason: because
    until: 2030-01-01T00:00:00Z
  - checkId: PG-S17
    database: orders
    reason: because
    until: 2027-01-01T00:00:00Z
  - {checkId: PG-S17, database: orders, reason: again, until: 2027-01-01T00:00:00Z}
  - instance: pg-1
agents: []
`))
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.String())
	}
	const misleading = "must not contain line breaks, control characters or characters that change the direction of text"
	want := []string{
		"2: settings.reportRetentionDays must be 1 to 365",
		"3: settings.inputsRetentionDays must be a whole number",
		"4: settings.papersize is not known here; there are catalog, dueDays, exceptionApproval, inputsRetentionDays, name, paperSize, protectedTags, reportRetentionDays, sessionDetail, statementTexts, watch",
		"5: settings.paperSize must be A4 or Letter",
		"6: settings.statementTexts must be off or normalized",
		"8: settings.watch.silentMinutes must be 1 to 1440",
		"9: settings.watch.volumePercent must be a whole number",
		"10: settings.watch.nothing is not known here; there are advisoryLocks, lockWaitMinutes, silentMinutes, volumePercent, wraparoundPercent",
		"13: instances[0].engine must be one of postgresql, sqlserver, oracle, mongodb, mysql",
		"14: instances[0].classify must be one of off, names, values",
		"15: instances[0].active must be true or false",
		"16: instances[1].externalId is required",
		"17: instances[1].dsn holds a password in the clear; write ${NAME} in its place, or name a passwordFile",
		"18: instances[2].externalId must be a text; put it into quotation marks",
		"20: instances[2].dsn names the variable NOBODY, which is not set or empty",
		"21: instances[3].externalId is that of line 12",
		"23: instances[3].dsn cannot be read: it names no host",
		"24: instances[3].name is empty; leave the key out instead",
		"27: instances[4].dsn cannot be read: it must start with postgres:// or postgresql://",
		"28: instances[4].passwordfile is not known here; there are active, classify, dsn, dsnFile, engine, externalId, host, name, passwordFile, separate, tags",
		"30: instances[4].name is given twice",
		"34: instances[5].passwordFile names the file /no/such/file, which cannot be read: no such file or directory",
		"37: instances[6].dsn cannot be used: Muster has no collector for mysql; leave it out, and send what is measured",
		"40: instances[7].classify is for engines that Muster connects to",
		"41: instances[8].externalId " + misleading,
		"43: instances[8].name " + misleading,
		"44: instances[9] must be a mapping",
		"47: exceptions[0].reason is empty; leave the key out instead",
		"48: exceptions[0].until must be an RFC 3339 time (2027-03-01T00:00:00Z)",
		"49: exceptions[1].checkId no such check is in the catalogue",
		"49: exceptions[1].checkId is excepted there by line 46 already",
		"51: exceptions[1].until must be in the future and at most 366 days ahead",
		"52: exceptions[2].database needs instance",
		"56: exceptions[3].database needs instance",
		"56: exceptions[3].checkId is excepted there by line 52 already",
		"57: exceptions[4].checkId is required",
		"57: exceptions[4].reason is required",
		"57: exceptions[4].until is required",
		"58: agents is not known here; there are channels, exceptions, instances, maintenanceWindows, objectives, rules, settings, teams, watchRules",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// TestNothingOfAFileIsRepeated but names of members: what is malformed may be a secret.
func TestNothingOfAFileIsRepeated(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":             "",
		"only a comment":    "# " + planted,
		"a text":            planted,
		"a list":            "- " + planted,
		"no YAML":           "instances: [" + planted,
		"a tab":             "instances:\n\t- " + planted,
		"an unknown alias":  "instances:\n  - dsn: *" + planted,
		"an anchor":         "instances: &" + planted + " []",
		"an alias":          "instances: &a []\nexceptions: *a",
		"a merge":           "settings:\n  <<: {name: " + planted + "}",
		"two documents":     "instances: []\n---\n" + planted,
		"a broken second":   "instances: []\n---\n[" + planted,
		"an unknown tag":    "settings: {name: !" + planted + " x}",
		"a password as key": "instances:\n  - {postgres://u:" + planted + "@db01/d}",
		"as a mapping":      "instances:\n  - {externalId: a, engine: postgresql, dsn: {u: " + planted + "}}",
		"in the clear":      "instances:\n  - {externalId: a, engine: postgresql, dsn: 'postgres://u:" + planted + "@db01/d'}",
		"not escaped":       "instances:\n  - {externalId: a, engine: postgresql, dsn: 'postgres://u:%zz" + planted + "@db01/d'}",
		"a # in it":         "instances:\n  - {externalId: a, engine: postgresql, dsn: 'postgres://u:#" + planted + "@db01/d'}",
		"a ? in it":         "instances:\n  - {externalId: a, engine: postgresql, dsn: 'postgres://u:12?" + planted + "@db01/d'}",
		"as the host":       "instances:\n  - {externalId: a, engine: postgresql, dsn: 'postgres://" + planted + "'}",
		"as keywords":       "instances:\n  - {externalId: a, engine: postgresql, dsn: 'host=db01 password=" + planted + "'}",
		"as the engine":     "instances:\n  - {externalId: a, engine: " + planted + "}",
		"deep":              strings.Repeat("{a: ", 40) + planted + strings.Repeat("}", 40),
	} {
		_, faults := reader().Read([]byte(text))
		if len(faults) == 0 {
			t.Errorf("%s is taken", name)
		}
		for _, f := range faults {
			if f.Line < 1 || f.Rule == "" || strings.Contains(f.String(), planted) {
				t.Errorf("%s: %s", name, f)
			}
		}
	}
}

// TestALapsedExceptionIsNoFault: a file that was right stays right.
func TestALapsedExceptionIsNoFault(t *testing.T) {
	t.Parallel()
	read(t, "exceptions:\n  - {checkId: PG-S17, reason: because, until: 2020-01-01T00:00:00Z}")
}

func FuzzRead(f *testing.F) {
	f.Add("instances:\n  - {externalId: a, engine: postgresql, dsn: 'postgres://u:${PW}@db01/d'}")
	f.Add("settings: {watch: {silentMinutes: 1}}\nexceptions: [{checkId: PG-S17, reason: x, until: 2027-01-01T00:00:00Z}]")
	f.Fuzz(func(_ *testing.T, text string) { reader().Read([]byte(text)) })
}

func TestTagsOfAFile(t *testing.T) {
	t.Parallel()
	_, faults := fleetfile.Reader{Now: noon}.Read([]byte(`instances:
  - {externalId: a, engine: mysql, tags: [env]}
  - externalId: b
    engine: mysql
    tags: {Env: prod, env: prod, zone: 7}
  - externalId: c
    engine: mysql
    tags: {env: prod, env: test}
settings:
  protectedTags: team
  dueDays: {high: 0, urgent: 1}
`))
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.String())
	}
	want := []string{
		"2: instances[0].tags must be a mapping; without any it is written {}",
		"5: instances[1].tags.zone must be a text; put it into quotation marks",
		"5: instances[1].tags.Env has an invalid key: it must be a lower-case letter and then up to 62 lower-case letters, digits, dots, hyphens or underscores",
		"8: instances[2].tags has a key twice",
		"10: settings.protectedTags must be a list; without any it is written []",
		"11: settings.dueDays.urgent is not known here; there are critical, high, low, medium",
		"11: settings.dueDays.high must be 1 to 3650",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}
