package schedule_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/schedule"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func daily(at, zone string) schedule.Recurrence {
	return schedule.Recurrence{Every: schedule.Day, At: at, TimeZone: zone}
}

func TestNext(t *testing.T) {
	t.Parallel()
	const amsterdam = "Europe/Amsterdam"
	weekly := schedule.Recurrence{Every: schedule.Week, Weekday: "monday", At: "08:00", TimeZone: amsterdam}
	monthly := func(day int) schedule.Recurrence {
		return schedule.Recurrence{Every: schedule.Month, DayOfMonth: day, At: "17:30", TimeZone: amsterdam}
	}
	for _, c := range []struct {
		name  string
		when  schedule.Recurrence
		after string
		want  []string
	}{
		{"later today", daily("08:00", amsterdam), "2026-11-24T06:59:59Z", []string{"2026-11-24T07:00:00Z", "2026-11-25T07:00:00Z"}},
		{"at its own instant it is over", daily("08:00", amsterdam), "2026-11-24T07:00:00Z", []string{"2026-11-25T07:00:00Z"}},
		{"on Mondays", weekly, "2026-11-24T12:00:00Z", []string{"2026-11-30T07:00:00Z", "2026-12-07T07:00:00Z"}},
		{"on the 31st, where there is one", monthly(31), "2027-01-31T16:30:00Z", []string{"2027-02-28T16:30:00Z", "2027-03-31T15:30:00Z", "2027-04-30T15:30:00Z"}},
		{"on the last", monthly(schedule.LastDay), "2028-02-01T00:00:00Z", []string{"2028-02-29T16:30:00Z", "2028-03-31T15:30:00Z"}},
		{"on the first", monthly(1), "2026-12-01T16:30:00Z", []string{"2027-01-01T16:30:00Z"}},
		{"an hour that does not exist is the first instant after it", daily("02:30", amsterdam), "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"an hour that comes twice is the first", daily("02:30", amsterdam), "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"a midnight that does not exist", daily("00:00", "America/Santiago"), "2026-09-05T12:00:00Z", []string{"2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"}},
		{"a day that does not exist begins the next one", daily("08:00", "Pacific/Apia"), "2011-12-29T18:00:00Z",
			[]string{"2011-12-30T10:00:00Z", "2011-12-30T18:00:00Z", "2011-12-31T18:00:00Z"}},
		{"a midnight of a day that does not exist is that of the next", daily("00:00", "Pacific/Apia"), "2011-12-29T10:00:00Z",
			[]string{"2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"}},
		{"half an hour forward", daily("02:15", "Australia/Lord_Howe"), "2026-10-03T00:00:00Z", []string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
		{"without a time of day", schedule.Recurrence{Every: schedule.Day, At: "8"}, "2026-11-24T00:00:00Z", []string{}},
		{"on a day that no week has", schedule.Recurrence{Every: schedule.Week, Weekday: "someday", At: "08:00"}, "2026-11-24T00:00:00Z", []string{}},
	} {
		got := []string{}
		for _, due := range c.when.NextOf(zone(t, c.when.TimeZone), instant(t, c.after), max(1, len(c.want))) {
			got = append(got, due.Format(time.RFC3339))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestDuesAgreeWithPython has another language's library compute every due time of two
// years, in zones whose clocks do all that clocks have done.
func TestDuesAgreeWithPython(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3 (Debian: python3)")
	}
	type asked struct {
		schedule.Recurrence
		From int64 `json:"from"`
		To   int64 `json:"to"`
	}
	var all []asked
	for name, years := range map[string][]int{
		"UTC": {2026}, "Europe/Amsterdam": {2026}, "Europe/Dublin": {2026}, "America/New_York": {2026}, "America/Sao_Paulo": {2018, 2026},
		"America/Santiago": {2026}, "America/Havana": {2026}, "America/St_Johns": {2010, 2026}, "Asia/Kolkata": {2026}, "Asia/Kathmandu": {2026},
		"Asia/Tehran": {2021}, "Asia/Gaza": {2026}, "Asia/Beirut": {2026}, "Asia/Pyongyang": {2015, 2018}, "Africa/Casablanca": {2026},
		"Africa/Cairo": {2010, 2026}, "Australia/Lord_Howe": {2026}, "Antarctica/Troll": {2026}, "Pacific/Apia": {2011}, "Pacific/Chatham": {2026},
		"Pacific/Kiritimati": {1994}, "Europe/Moscow": {2011, 2014}, "America/Caracas": {2007, 2016}, "Atlantic/Azores": {2026},
	} {
		for _, year := range years {
			from, to := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(year+1, 3, 1, 0, 0, 0, 0, time.UTC).Unix()
			for _, at := range []string{"00:00", "00:30", "02:00", "02:15", "02:59", "03:00", "08:00", "23:45"} {
				all = append(all, asked{daily(at, name), from, to},
					asked{schedule.Recurrence{Every: schedule.Week, Weekday: "sunday", At: at, TimeZone: name}, from, to},
					asked{schedule.Recurrence{Every: schedule.Month, DayOfMonth: schedule.LastDay, At: at, TimeZone: name}, from, to},
					asked{schedule.Recurrence{Every: schedule.Month, DayOfMonth: 30, At: at, TimeZone: name}, from, to})
			}
		}
	}
	question, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	judge := exec.CommandContext(t.Context(), python, "testdata/dues.py")
	judge.Stdin = bytes.NewReader(question)
	answer, err := judge.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("%v\n%s", err, failed.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	var want [][]int64
	if err := json.Unmarshal(answer, &want); err != nil {
		t.Fatal(err)
	}
	dues := 0
	for i, a := range all {
		got, z := []int64{}, zone(t, a.TimeZone)
		for at := a.Next(z, time.Unix(a.From, 0)); at.Unix() <= a.To; at = a.Next(z, at) {
			got = append(got, at.Unix())
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("%+v (-python +ours):\n%s", a, diff)
		}
		dues += len(got)
	}
	if dues < 100_000 {
		t.Errorf("%d due times were compared: something is left out", dues)
	}
}

func TestNamesOfZones(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Europe/Amsterdam": true, "UTC": true, "EST5EDT": true, "America/Argentina/Buenos_Aires": true,
		"": false, "Local": false, "localtime": false, "posixrules": false, "right/Europe/Amsterdam": false, "posix/UTC": false,
	} {
		if got := schedule.ZoneName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
