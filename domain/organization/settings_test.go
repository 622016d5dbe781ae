package organization_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/domain/organization"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	was := organization.Settings{
		Name: "Example", ReportRetentionDays: 30, InputsRetentionDays: 400, PaperSize: "A4", StatementTexts: "off",
		Watch: organization.Watch{SilentMinutes: 5, VolumePercent: 90, LockWaitMinutes: 5, WraparoundPercent: 80, AdvisoryLocks: "on"},
	}
	with := func(change func(s *organization.Settings)) organization.Settings {
		s := was
		change(&s)
		return s
	}
	days := func(from, to int) *organization.SettingChange[int] {
		return &organization.SettingChange[int]{From: from, To: to}
	}
	for _, c := range []struct {
		name   string
		change organization.ChangeSettings
		then   organization.Settings
		events events
	}{
		{"nothing", organization.ChangeSettings{}, was, nil},
		{"to what it is", organization.ChangeSettings{Name: ptr("Example"), ReportRetentionDays: ptr(30), WraparoundPercent: ptr(80)}, was, nil},
		{"the name, which stays outside the log", organization.ChangeSettings{Name: ptr("Acme")},
			with(func(s *organization.Settings) { s.Name = "Acme" }),
			events{organization.SettingsChanged{NameChanged: true}}},
		{"one of two that are named", organization.ChangeSettings{ReportRetentionDays: ptr(90), InputsRetentionDays: ptr(400)},
			with(func(s *organization.Settings) { s.ReportRetentionDays = 90 }),
			events{organization.SettingsChanged{ReportRetentionDays: days(30, 90)}}},
		{"everything", organization.ChangeSettings{
			Name: ptr("Acme"), ReportRetentionDays: ptr(1), InputsRetentionDays: ptr(2), PaperSize: ptr("Letter"), StatementTexts: ptr("normalized"),
			SilentMinutes: ptr(3), VolumePercent: ptr(4), LockWaitMinutes: ptr(6), WraparoundPercent: ptr(7), AdvisoryLocks: ptr("off"),
		}, organization.Settings{Name: "Acme", ReportRetentionDays: 1, InputsRetentionDays: 2, PaperSize: "Letter", StatementTexts: "normalized",
			Watch: organization.Watch{SilentMinutes: 3, VolumePercent: 4, LockWaitMinutes: 6, WraparoundPercent: 7, AdvisoryLocks: "off"}},
			events{organization.SettingsChanged{
				NameChanged: true, ReportRetentionDays: days(30, 1), InputsRetentionDays: days(400, 2),
				PaperSize:      &organization.SettingChange[string]{From: "A4", To: "Letter"},
				StatementTexts: &organization.SettingChange[string]{From: "off", To: "normalized"},
				SilentMinutes:  days(5, 3), VolumePercent: days(90, 4), LockWaitMinutes: days(5, 6), WraparoundPercent: days(80, 7),
				AdvisoryLocks: &organization.SettingChange[string]{From: "on", To: "off"},
			}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, events := was.Change(c.change)
			if diff := cmp.Diff(c.then, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if same := got.Digest() == was.Digest(); same != (c.events == nil) {
				t.Errorf("the digest stays: %v", same)
			}
		})
	}
}
