package day_test

import (
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/report/snapshot/day"
	"muster/internal/report/snapshot/snapshottest"
)

// row is the first row of a section with a label.
func row(t *testing.T, p day.Page, section, label string) day.Row {
	t.Helper()
	for _, s := range p.Sections {
		for _, r := range s.Rows {
			if s.ID == section && r.Label == label {
				return r
			}
		}
	}
	t.Errorf("section %s has no row %q", section, label)
	return day.Row{}
}

// TestADayInWords: the verdict, the first action, whether the instruments were alive, and the subject of the mail.
func TestADayInWords(t *testing.T) {
	t.Parallel()
	p := day.PageOf(*snapshottest.Rich(report.DailyDigest).Day)
	for _, c := range []struct{ got, want string }{
		{p.Title, "Friday, 20 November"},
		{p.When, "24 hours to 07:00, Europe/Berlin"},
		{p.Headline, "2 servers need you; 1 critical alert is open."},
		{p.First.Text, "look at pg-identity-01: Volume /data is at 92%."},
		{p.First.Note, "Free space, or enlarge the volume. Since today 02:38. The server is owned by Identity."},
		{p.Subject, "2 servers need you, 43 overdue (+1), 1 silent"},
		{row(t, p, "instruments", "Servers").Note, "pg-billing-01 silent 04:10 – 04:52"},
		{row(t, p, "due", "overdue").Text, "43 findings, +1 since the day before"},
		{row(t, p, "delivery", "2 of 29").Text, "messages, +2 since the day before"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if len(p.Sections) != 7 {
		t.Errorf("it has %d sections", len(p.Sections))
	}
}

// TestADigestOfSilentServersIsNotGreen: a digest of servers that sent nothing never says that nothing is wrong.
func TestADigestOfSilentServersIsNotGreen(t *testing.T) {
	t.Parallel()
	d := snapshottest.Quiet().Day
	if p := day.PageOf(*d); p.Level != day.Quiet || p.Headline != "Nothing needs you today." {
		t.Errorf("a quiet day is %s: %s", p.Level, p.Headline)
	}
	d.Verdict.Level, d.Verdict.Unheard = day.Unknown, d.Servers
	d.Instruments.AllDay, d.Instruments.Never = 0, d.Servers
	d.Trouble.Untroubled, d.Trouble.Unheard = 0, d.Servers
	p := day.PageOf(*d)
	if p.Level != day.Unknown || !strings.HasPrefix(p.Headline, "Nobody knows") || row(t, p, "trouble", "nothing known").Level != day.Unknown {
		t.Errorf("a day on which nobody was heard is %s: %s", p.Level, p.Headline)
	}
	d.Instruments.AllDay, d.Instruments.Never, d.Verdict.Unheard = d.Servers-1, 0, 1
	if p := day.PageOf(*d); !strings.Contains(p.Headline, "1 server was not heard all day") {
		t.Errorf("with one silent server it says %q", p.Headline)
	}
}

// TestAnEmptySectionIsPrinted, for no server, too.
func TestAnEmptySectionIsPrinted(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*day.Digest{"quiet": snapshottest.Quiet().Day, "empty": snapshottest.Empty(report.DailyDigest).Day} {
		for _, s := range day.PageOf(*d).Sections {
			if len(s.Rows)+len(s.Figures) == 0 {
				t.Errorf("%s: section %s says nothing", name, s.ID)
			}
		}
	}
	if p := day.PageOf(*snapshottest.Empty(report.DailyDigest).Day); p.Level != day.Nothing || p.Subject != "no servers" {
		t.Errorf("without servers it is %s: %s", p.Level, p.Subject)
	}
}

// TestALateDigestNamesTheTimeOfItsData: what has no history is not as of the end of the day, and what is not
// kept is not known.
func TestALateDigestNamesTheTimeOfItsData(t *testing.T) {
	t.Parallel()
	d := *snapshottest.Rich(report.DailyDigest).Day
	made := d.To.AddDate(0, 0, 100)
	d.AsOf, d.Delivery.Gone, d.Muster.Dead = &made, true, 2
	p, want := day.PageOf(d), "as of 28 Feb 2027, 07:00"
	for _, said := range []string{row(t, p, "instruments", "Agents").Text, row(t, p, "instruments", "Feeds").Note, row(t, p, "delivery", "2").Note} {
		if !strings.Contains(said, want) {
			t.Errorf("%q does not say %q", said, want)
		}
	}
	if r := row(t, p, "delivery", "not known"); r.Level != day.Unknown || r.Text != "messages are kept for 90 days" {
		t.Errorf("messages that are not kept: %+v", r)
	}
}

// TestTheFirstActionIsOneToTake: an alert of another tool has no advice, and a server may have no owner.
func TestTheFirstActionIsOneToTake(t *testing.T) {
	t.Parallel()
	d := *snapshottest.Rich(report.DailyDigest).Day
	first := *d.Verdict.First
	first.Advice, first.Owner, d.Verdict.First = "", "", &first
	if got, want := day.PageOf(d).First.Note, "Open the alert, and acknowledge it so that others know. Since today 02:38. Nobody owns the server."; got != want {
		t.Errorf("first: %q, want %q", got, want)
	}
}

// TestTimesAreInTheZoneOfTheReader: around a change of the clocks, each time by the clocks of that time.
func TestTimesAreInTheZoneOfTheReader(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		parsed, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.UTC()
	}
	for _, c := range []struct{ from, to, when, title string }{
		{"2026-10-24 07:00", "2026-10-25 07:00", "25 hours to 07:00, Europe/Berlin", "Sunday, 25 October"},
		{"2026-03-28 07:00", "2026-03-29 07:00", "23 hours to 07:00, Europe/Berlin", "Sunday, 29 March"},
		{"2026-11-19 00:00", "2026-11-20 00:00", "24 hours to 00:00, Europe/Berlin", "Thursday, 19 November"},
	} {
		d := day.Digest{From: at(c.from), To: at(c.to), Zone: day.ZoneOf(berlin, at(c.to))}
		if p := day.PageOf(d); p.When != c.when || p.Title != c.title {
			t.Errorf("%s, %s; want %s, %s", p.Title, p.When, c.title, c.when)
		}
		for hours := range 24 * 300 {
			instant := d.To.Add(-time.Duration(hours) * time.Hour)
			if got, want := d.Zone.In(instant).Format("2006-01-02 15:04"), instant.In(berlin).Format("2006-01-02 15:04"); got != want {
				t.Fatalf("%s is %s, want %s", instant, got, want)
			}
		}
	}
	d := day.Digest{From: at("2026-11-19 07:00"), To: at("2026-11-20 07:00"), Zone: day.ZoneOf(berlin, at("2026-11-20 07:00"))}
	for text, want := range map[string]string{"2026-11-20 02:38": "today 02:38", "2026-11-19 22:10": "yesterday 22:10", "2026-11-02 08:00": "2 Nov", "2025-12-31 08:00": "31 Dec 2025"} {
		if got := d.When(at(text)); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// TestADigestThatIsReadAgainHasTheSameWords: the PDF, digest.json and the mail cannot differ.
func TestADigestThatIsReadAgainHasTheSameWords(t *testing.T) {
	t.Parallel()
	if _, err := day.ReadFile([]byte("[]")); err == nil {
		t.Error("a list is read as a digest")
	}
}
