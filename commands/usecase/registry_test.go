package usecase_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/domain/maintenance"
	"muster/domain/mark"
	"muster/domain/notification"
	"muster/domain/objective"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/domain/team"
	"muster/eventstore"
)

var write = flag.Bool("write-events", false, "write the example of an event type that has none yet")

// TestStoredEventsAreStillRead decodes an example of every version of every event that was ever
// written. An existing example never changes: it stands for the events in an installation's
// log.
func TestStoredEventsAreStillRead(t *testing.T) {
	t.Parallel()
	registry := usecase.Registry()
	if err := registry.Err(); err != nil {
		t.Fatal(err)
	}
	if want := len(report.Events()) + len(fleet.Events()) + len(alert.Events()) + len(organization.Events()) + len(exception.Events()) + len(schedule.Events()) + len(notification.Events()) + len(team.Events()) + len(mark.Events()) + len(maintenance.Events()) + len(objective.Events()); len(registry.Names()) != want {
		t.Fatalf("%d names are registered, the domain has %d", len(registry.Names()), want)
	}
	written := map[string]int{}
	for _, example := range examples() {
		encoded, err := registry.Encode(example)
		if err != nil {
			t.Fatal(err)
		}
		name := encoded.Type + ".v1"
		if written[encoded.Type]++; written[encoded.Type] > 1 { // with members that came later, absent in the first
			name += fmt.Sprintf(".%d", written[encoded.Type])
		}
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "events", name+".json")
			if _, err := os.Stat(path); os.IsNotExist(err) && *write {
				if err := os.WriteFile(path, append(encoded.Data, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			stored, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v: run the test once with -write-events", err)
			}
			data := strings.TrimSuffix(string(stored), "\n")
			got, err := registry.Decode(eventstore.Event{Type: encoded.Type, SchemaVersion: 1, Data: []byte(data)})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, example) {
				t.Errorf("read %+v, want %+v", got, example)
			}
			if data != string(encoded.Data) {
				t.Errorf("today it is written %s: a change of form needs a new schema version", encoded.Data)
			}
		})
	}
}

func TestEveryEventTypeHasAnExample(t *testing.T) {
	t.Parallel()
	registry := usecase.Registry()
	held := map[string]map[string]bool{} // by type, its fields that an example fills
	for _, e := range examples() {
		n, err := registry.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if held[n.Type] == nil {
			held[n.Type] = map[string]bool{}
		}
		for i := range reflect.TypeOf(e).NumField() {
			field := reflect.TypeOf(e).Field(i).Name
			held[n.Type][field] = held[n.Type][field] || !reflect.ValueOf(e).Field(i).IsZero()
		}
	}
	for _, name := range registry.Names() {
		if held[name] == nil {
			t.Errorf("%s has no example", name)
		}
		for field, filled := range held[name] {
			if !filled {
				t.Errorf("the examples of %s leave %s empty: its name on the wire is not held", name, field)
			}
		}
	}
}

// examples is one filled value of every event. An event that got further members later has two
// examples, without and with them.
func examples() []any {
	a, b := uuid.UUID{0: 1, 15: 0xa}, uuid.UUID{0: 1, 15: 0xb}
	at := time.Date(2026, 11, 20, 11, 37, 0, 0, time.UTC)
	threshold, score := 90.0, 87
	raised := alert.Details{
		Title: "/data is 91 % full", Description: "of 2 TB", Severity: alert.Critical,
		Rule:       &alert.Rule{ID: "volume", Name: "Volume full", Threshold: &threshold, Unit: "%"},
		InstanceID: a, DatabaseID: b, CreatedAt: at, FirstTriggeredAt: at, LastTriggeredAt: at,
	}
	rule := notification.Terms{
		Match: notification.Match{
			Severities: []alert.Severity{alert.Critical}, Engines: []fleet.Engine{fleet.PostgreSQL}, InstanceIDs: []uuid.UUID{a}, NameContains: "prod",
			Events: []notification.EventType{notification.AlertRaised},
		},
		ChannelIDs: []uuid.UUID{b}, GroupSeconds: 60, RepeatMinutes: 30,
		Quiet: &notification.Quiet{From: "22:00", To: "07:00", TimeZone: "Europe/Amsterdam", ExceptCritical: true}, Enabled: true,
	}
	queued := report.Queued{
		Kind: report.InstanceScorecard, Scope: report.Scope{InstanceIDs: []uuid.UUID{a}, DatabaseID: &b, From: &at, To: &at},
		ScopeLabel: "orders & <billing> · 20 Nov 2026", Fingerprint: "f0", RequesterID: a, RecipientIDs: []uuid.UUID{a, b},
	}
	scheduled := queued
	scheduled.Schedule = &report.Scheduled{ID: b, Name: "Orders & <billing>"}
	tagged := queued
	tagged.Scope = report.Scope{InstanceIDs: []uuid.UUID{a}, Tags: fleet.TagFilter{"env": {"prod", "staging"}}, TeamID: &b}
	ofTeam := team.Terms{
		Selector: team.Selector{Tags: fleet.TagFilter{"team": {"payments"}}, InstanceIDs: []uuid.UUID{b}},
		Members:  []team.Member{{ID: a, Role: organization.Member}},
	}
	routed := rule
	routed.Match = notification.Match{Tags: fleet.TagFilter{"env": {"prod"}}, TeamIDs: []uuid.UUID{b}}
	ready := report.Ready{
		AsOf: at, InputsSHA256: "a0", InputsKey: "inputs/1", PDFSHA256: "b0", PDFKey: "pdf/1", FileName: "x.pdf", SizeBytes: 412_331, Pages: 14,
		Renderer: report.Renderer{Version: "1.0.0", Commit: "c0", GoVersion: "go1.26", Assets: "d0"},
		Witness:  report.Witness{Log: "reports", Position: 7, Hash: "e0"}, RecipientIDs: []uuid.UUID{a},
		RetentionSeconds: 3600, ExpiresAt: at, InputsErasedOn: at,
	}
	withFiles := ready
	withFiles.InputsSizeBytes, withFiles.Files = 288_115, []report.File{{Name: report.FindingsFile, Key: "csv/1", SizeBytes: 61_204, SHA256: "f0"}}
	withFindings := withFiles
	withFindings.Findings = &report.Findings{SHA256: "f2", Open: 14, Since: &at, New: 2, Closed: 1, Unknown: 3}
	withAccepted := withFindings
	withAccepted.Findings = &report.Findings{SHA256: "f2", Open: 14, Since: &at, New: 2, Closed: 1, Accepted: 4, Unknown: 3}
	withMark := withAccepted
	withMark.Mark = "9d894b699eeac5e9:a04144c5591de2ecdc90f6e63197b5c6bf01885f6d04d8190f137ba051c2a9a7"
	withAsked := withMark
	withAsked.Kind, withAsked.ScopeSHA256 = report.Security, "f3"
	terms := schedule.Terms{
		Name: "Orders & <billing>", Kind: report.InstanceScorecard, Scope: schedule.Scope{InstanceIDs: []uuid.UUID{a}, DatabaseID: &b, Window: "7d"},
		RecipientIDs: []uuid.UUID{b}, Recurrence: schedule.Recurrence{Every: schedule.Month, Weekday: "monday", DayOfMonth: -1, At: "08:00", TimeZone: "Europe/Amsterdam"},
		OnlyIfChanged: true, Enabled: true,
	}
	percent, latency := 99.95, 12.5
	once := maintenance.Terms{Selector: ofTeam.Selector, From: &at, To: &at, TimeZone: "Europe/Amsterdam"}
	weekly := maintenance.Terms{Selector: ofTeam.Selector, Recurrence: &schedule.Recurrence{Every: schedule.Week, Weekday: "sunday", At: "02:00", TimeZone: "Europe/Amsterdam"}, Minutes: 180}
	inWindow := alert.Raised{Key: "watch/down/x", Maintenance: &alert.Window{ID: b, Until: at}, Details: raised}
	perTeam := terms
	perTeam.Scope, perTeam.TeamIDs, perTeam.PerTeam = schedule.Scope{Tags: fleet.TagFilter{"env": {"prod"}}}, []uuid.UUID{a}, true

	return []any{
		queued, scheduled, tagged,
		report.Reused{RequesterID: b, Added: []uuid.UUID{b}, NotAdded: []uuid.UUID{a}},
		report.Reused{RequesterID: b, Added: []uuid.UUID{b}, NotAdded: []uuid.UUID{a}, Schedule: scheduled.Schedule},
		report.BuildStarted{Worker: "w1", Attempt: 1},
		report.BuildResumed{Worker: "w2", Attempt: 2, Reason: "lease expired"},
		report.StepCompleted{Step: 1, TotalSteps: 3, Label: "Gather"},
		ready, withFiles, withFindings, withAccepted, withMark, withAsked,
		report.Failed{Code: report.CodeAbandoned, Message: "Request it again."},
		report.Expired{ExpiredAt: at},
		report.EmailSent{MemberID: a, MessageID: "<1@muster>", SMTPCode: 250},
		report.EmailFailed{MemberID: a, MessageID: "<1@muster>", SMTPCode: 550, Reason: "mailbox unavailable"},
		report.Downloaded{MemberID: a}, report.Downloaded{MemberID: a, File: report.FindingsFile},
		report.InputsErased{Rule: "retention"},
		report.Signed{SHA256: "f1", Key: "signed/1", SizeBytes: 423_331, KeyID: "a1b2"},
		fleet.InstanceRegistered{ExternalID: "pg-1", Name: "orders", Engine: fleet.PostgreSQL, Version: "15.18", Host: "db01", Active: true, CreatedAt: at},
		fleet.InstanceChanged{Name: "orders", Engine: fleet.PostgreSQL, Version: "15.18", Host: "db01", CreatedAt: at},
		fleet.InstanceChanged{Name: "shop", Engine: fleet.PostgreSQL, Version: "15.18", Host: "db02", CreatedAt: at, FormerName: "orders", FormerHost: "db01"},
		fleet.InstanceActivated{},
		fleet.InstanceDeactivated{},
		fleet.InstanceRemoved{},
		fleet.AssessmentKept{
			InstanceID: a, AssessmentID: b, At: at, FactsSHA256: "0c", AnswersSHA256: "0d", Catalogue: "7", Reached: true, Buffered: true, Mark: "f0f1:0e",
		},
		fleet.AssessmentKept{
			InstanceID: a, AssessmentID: b, At: at, FactsSHA256: "0c", AnswersSHA256: "0d", Catalogue: "7", Reached: true, ClassifiedSHA256: "0e", Mark: "f0f1:0f",
		},
		fleet.InstanceTagged{Set: map[string]string{"env": "prod"}, Removed: []string{"owner"}, By: fleet.ByFeed("cmdb")},
		fleet.InstanceGrantsDeclined{Objects: []string{"pg_authid (rolname, rolpassword) in database orders", "pg_user_mapping"}},
		fleet.DatabaseRegistered{InstanceID: a, ExternalID: "sales", Name: "sales", CreatedAt: at},
		fleet.DatabaseChanged{Name: "sales", CreatedAt: at},
		fleet.DatabaseRemoved{InstanceID: a},
		fleet.InstanceAssessed{
			InstanceID: a, AssessmentID: b, At: at, Score: &score, Grade: "B",
			Domains: []fleet.DomainScore{{Name: "Security", Score: &threshold, Failed: 2, Passed: 19, NotAssessed: 1}},
			Changes: []fleet.Change{{Kind: fleet.ChangedSetting, Key: "work_mem", Before: "0a", After: "0b"}}, Omitted: 1,
		},
		fleet.InstanceAssessed{
			InstanceID: a, AssessmentID: b, At: at, Score: &score, Grade: "B",
			Domains: []fleet.DomainScore{{Name: "Security", Score: &threshold, Failed: 2, Passed: 19, NotAssessed: 1}},
			Changes: []fleet.Change{{Kind: fleet.ChangedSetting, Key: "work_mem", Before: "0a", After: "0b"}}, Omitted: 1, FactsSHA256: "0c",
		},
		fleet.InstanceAssessed{
			InstanceID: a, AssessmentID: b, At: at, Score: &score, Grade: "B",
			Domains: []fleet.DomainScore{{Name: "Security", Score: &threshold, Failed: 2, Passed: 19, NotAssessed: 1}},
			Changes: []fleet.Change{{Kind: fleet.ChangedSetting, Key: "work_mem", Before: "0a", After: "0b"}}, Omitted: 1, FactsSHA256: "0c",
			New: []fleet.NewFindings{{CheckID: "PG-S17", Title: "PUBLIC may create objects in a schema", Severity: "High", Findings: 2}},
		},
		fleet.InstanceAssessed{
			InstanceID: a, AssessmentID: b, At: at, Score: &score, Grade: "B", Domains: []fleet.DomainScore{}, Changes: []fleet.Change{},
			FactsSHA256: "0c", AnswersSHA256: "0d", Catalogue: "7", Buffered: true, Mark: "f0f1:0e",
		},
		fleet.InstanceAssessed{
			InstanceID: a, AssessmentID: b, At: at, Score: &score, Grade: "B", Domains: []fleet.DomainScore{}, Changes: []fleet.Change{},
			FactsSHA256: "0c", AnswersSHA256: "0d", Catalogue: "7", ClassifiedSHA256: "0e", Mark: "f0f1:0f",
		},
		alert.Raised{Key: "watch/volume/db01/data", After: at, Details: raised},
		alert.Raised{Key: "external/disk\n" + a.String(), After: at, Limited: true, Details: raised},
		alert.Raised{Key: "watch/lock_wait/" + a.String(), Details: raised, Blocking: &alert.Blocking{EpisodeID: a, At: at, Omitted: 3, Sessions: []alert.BlockedSession{
			{Session: "24749", Kind: "client", Began: &at, Database: "shop", State: "idle in transaction", Idle: true, StatementID: "77", Transaction: &at, Changed: &at},
			{Session: "24911", Kind: "client", Waits: &at, For: []string{"24749"}, Lock: "relation", Mode: "AccessExclusiveLock", Object: "table public.orders", Advisory: true},
		}}},
		inWindow,
		alert.Changed{Details: raised},
		alert.TriggeredAgain{FirstTriggeredAt: at, LastTriggeredAt: at, StartedAt: at},
		alert.StillFiring{LastTriggeredAt: at},
		alert.Acknowledged{},
		alert.Muted{},
		alert.MutedUntil{Until: at},
		alert.Unmuted{},
		alert.MuteEnded{Until: at},
		alert.Noted{Note: "known, <until> the move\nof & disks"},
		alert.Resolved{ResolvedAt: at, LastTriggeredAt: at, StartedAt: at},
		alert.AutoResolved{ResolvedAt: at, LastTriggeredAt: at, StartedAt: at, Lapsed: true},
		organization.Created{Demo: true},
		organization.Deleted{},
		organization.MemberInvited{MemberID: a, Role: organization.Auditor},
		organization.MemberJoined{MemberID: a, Role: organization.Admin},
		organization.MemberChanged{MemberID: a, Role: organization.Viewer, Status: organization.Disabled},
		organization.MemberErased{MemberID: a},
		organization.SettingsChanged{
			NameChanged: true, ReportRetentionDays: &organization.SettingChange[int]{From: 30, To: 90},
			InputsRetentionDays: &organization.SettingChange[int]{From: 400, To: 800}, PaperSize: &organization.SettingChange[string]{From: "A4", To: "Letter"},
			StatementTexts: &organization.SettingChange[string]{From: "off", To: "normalized"},
			SilentMinutes:  &organization.SettingChange[int]{From: 5, To: 10}, VolumePercent: &organization.SettingChange[int]{From: 90, To: 95},
			LockWaitMinutes: &organization.SettingChange[int]{From: 5, To: 1}, WraparoundPercent: &organization.SettingChange[int]{From: 80, To: 50},
		},
		organization.SettingsChanged{ExceptionApproval: &organization.SettingChange[string]{From: "any", To: "another"}},
		organization.SettingsChanged{ProtectedTags: &organization.SettingChange[string]{From: "", To: "env,team"}, DueCritical: &organization.SettingChange[int]{From: 7, To: 3}, DueHigh: &organization.SettingChange[int]{From: 30, To: 14}, DueMedium: &organization.SettingChange[int]{From: 90, To: 60}, DueLow: &organization.SettingChange[int]{From: 180, To: 365}},
		organization.SettingsChanged{SessionDetail: &organization.SettingChange[string]{From: "on", To: "off"}},
		organization.SettingsChanged{AdvisoryLocks: &organization.SettingChange[string]{From: "on", To: "off"}},
		organization.SettingsChanged{Catalog: &organization.SettingChange[string]{From: "all", To: "specification"}},
		organization.WatchRuleChanged{
			Rule: "volume", From: []organization.WatchSetting{{Enabled: true, Threshold: 90, Severity: alert.Warning}},
			To: []organization.WatchSetting{
				{Tags: fleet.TagFilter{"env": {"prod"}}, Enabled: true, Threshold: 85, ForSeconds: 300, Severity: alert.Critical}, {Threshold: 90, Severity: alert.Warning},
			},
		},
		organization.TokenMinted{TokenID: a, Kind: "api", Scopes: []string{"reports:read"}},
		organization.TokenRevoked{TokenID: a},
		organization.FindingAssigned{AboutFinding: organization.AboutFinding{InstanceID: a, CheckID: "PG-S17"}, AssigneeID: &b},
		organization.FindingTicketed{AboutFinding: organization.AboutFinding{InstanceID: a, CheckID: "PG-S17"}, Linked: true},
		organization.EvidenceMade{CheckID: "PG-S17", From: at.AddDate(0, -3, 0), To: at, AsOf: at.Add(time.Hour), Instances: 2, SHA256: strings.Repeat("ab", 32)},
		notification.ChannelCreated{Kind: notification.Email, MemberIDs: []uuid.UUID{a}, Administrators: true},
		notification.ChannelCreated{Kind: notification.Email, AddressIDs: []uuid.UUID{b}},
		notification.ChannelChanged{NameChanged: true, URLChanged: true, SecretChanged: true, MemberIDs: []uuid.UUID{a}, Administrators: true},
		notification.ChannelChanged{NameChanged: true, URLChanged: true, SecretChanged: true, FormatChanged: true, MemberIDs: []uuid.UUID{a}, Administrators: true},
		notification.ChannelChanged{AddressIDs: []uuid.UUID{b}, ConfirmedAddressID: &b, LeftAddressID: &a},
		notification.ChannelRemoved{}, notification.ChannelTested{OK: true, StatusCode: 204}, notification.DeliveryRetried{DeliveryID: a},
		notification.RuleCreated{Terms: rule}, notification.RuleChanged{NameChanged: true, Terms: rule}, notification.RuleRemoved{},
		notification.RuleCreated{Terms: routed}, notification.RuleChanged{Terms: routed},
		team.Created{Terms: ofTeam}, team.Changed{NameChanged: true, Terms: ofTeam}, team.Changed{Position: 2, Terms: ofTeam}, team.Removed{},
		maintenance.Created{Terms: once}, maintenance.Changed{NameChanged: true, Terms: weekly}, maintenance.Ended{NotBefore: at}, maintenance.Removed{},
		objective.Changed{From: []objective.Objective{}, To: []objective.Objective{{Selector: ofTeam.Selector, AvailabilityPercent: &percent, LatencyMs: &latency, Window: objective.Month}}},
		mark.Set{At: at, Tags: map[string]string{"app": "billing"}, TokenID: a}, mark.Removed{},
		exception.Requested{
			Subject: exception.Subject{CheckID: "PG-S01", InstanceID: &a, DatabaseID: &b, ObjectRef: "line 94"},
			Reason:  "until the move", Until: at,
		},
		exception.Granted{},
		exception.Revoked{},
		schedule.Created{OwnerID: a, Terms: terms},
		schedule.Changed{Terms: terms},
		schedule.Created{OwnerID: a, Terms: perTeam},
		schedule.Changed{Terms: perTeam},
		schedule.TakenOver{OwnerID: b},
		schedule.Removed{},
		schedule.Requested{DueAt: at, ReportID: a},
		schedule.Requested{DueAt: at, ReportID: a, Teams: []schedule.OfTeam{{TeamID: b, ReportID: &a}, {TeamID: a, Why: "It has no active server."}}},
		schedule.Unchanged{DueAt: at, ReportID: a},
		schedule.Missed{DueAt: at, Reason: schedule.ReasonRefused, Detail: "None of its servers is there any more."},
		schedule.Paused{DueAt: at, Reason: schedule.ReasonDisabled},
	}
}
