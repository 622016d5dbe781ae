package chat_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/chat"
)

func chatOf(t failing, m channel.Message, format notification.Format) string {
	t.Helper()
	body, err := chat.Body(m, format)
	if err != nil {
		t.Errorf("%v", err)
	}
	var posted map[string]string
	if err := json.Unmarshal(body, &posted); err != nil || len(posted) != 1 {
		t.Errorf("%s: %v", body, err)
	}
	return posted["text"]
}

// TestAChatGetsOnlyText: text of machines and people mentions nobody, and is neither a link nor bold, in either
// form. C22.
func TestAChatGetsOnlyText(t *testing.T) {
	t.Parallel()
	id, critical := uuid.MustParse("0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01"), alert.Critical
	const nasty = "@channel @all @here @everyone <!channel> <!here|x> <@U123> <https://evil.example|ok> *bold* _it_ ~out~ `code` [ok](https://evil.example) pg_stat | & \\"
	m := channel.Message{
		Organization: nasty, Rule: channel.Reference{Name: nasty}, PublicURL: "https://muster.example.org",
		Events: []channel.Notice{{Type: notification.AlertRaised, Severity: &critical, Title: nasty, AlertID: &id, Instance: &channel.Reference{Name: nasty}}},
	}
	for format, want := range map[notification.Format][]string{
		chat.Slack:      {"• <https://muster.example.org/alerts/" + id.String() + "|Raised (critical): \u200b@\u200bchannel", "pg_stat / &amp; \\", "∗bold∗ ＿it＿ ∼out∼"},
		chat.Mattermost: {"• [Raised \\(critical\\): \u200b@\u200bchannel", "](https://muster.example.org/alerts/" + id.String() + ") ", `pg\_stat \| &amp; \\`, `\*bold\* \_it\_`},
	} {
		text := chatOf(t, m, format)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s has no %q:\n%s", format, w, text)
			}
		}
		for _, never := range []string{"@channel", "@all", "@here", "@everyone", "<!", "<@", "|ok>", "*bold*", " _it_", "~out~", "`code`", "[ok]("} {
			if strings.Contains(text, never) {
				t.Errorf("%s has %q:\n%s", format, never, text)
			}
		}
	}
	if _, err := chat.Body(m, "teams"); err == nil {
		t.Error("a form that nobody knows is written")
	}
}

// TestAChatTakesALongGroup: of many long events it shows as much as a receiver takes, and says
// how many there are more. C22.
func TestAChatTakesALongGroup(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	m := channel.Message{Organization: "Acme", Rule: channel.Reference{Name: "All"}, Omitted: 7, PublicURL: "https://muster.example.org/" + strings.Repeat("x", 700)}
	for range 40 {
		m.Events = append(m.Events, channel.Notice{Type: notification.AlertRaised, Title: strings.Repeat("ä*", 250), AlertID: &id})
	}
	for _, format := range chat.Formats() {
		text := chatOf(t, m, format)
		lines := strings.Count(text, "\n• ")
		if n := utf8.RuneCountInString(text); n > 16_383 || lines < 5 || lines > 20 {
			t.Errorf("%s: %d characters, %d events", format, n, lines)
		}
		if want := "\nand " + map[int]string{12: "35", 13: "34", 14: "33", 15: "32", 11: "36"}[lines] + " more"; !strings.HasSuffix(text, want) {
			t.Errorf("%s shows %d of 47 and ends with %q", format, lines, text[len(text)-20:])
		}
	}
}
