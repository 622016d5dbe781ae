package teams_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/teams"
)

// envelope is what a workflow gets.
type envelope struct {
	Type        string `json:"type"`
	Attachments []struct {
		ContentType string          `json:"contentType"`
		Content     json.RawMessage `json:"content"`
	} `json:"attachments"`
}

// content is a card, with every member that Body writes.
type content struct {
	Type    string `json:"type"`
	Version string `json:"version"`
	Body    []struct {
		Type    string `json:"type"`
		Inlines []struct {
			Type, Text   string
			SelectAction *action
		} `json:"inlines"`
	} `json:"body"`
	Actions []action `json:"actions"`
	MSTeams any      `json:"msteams"`
}

type action struct{ Type, Title, URL string }

const ours = "https://muster.example.org"

// nasty are texts that mention, link, format or mislead in Teams.
func nasty() []string {
	return []string{
		"<at>Everyone</at> @channel @team ＠all", "[click](http://evil.example) ![i](http://evil.example/p.png)", "http://evil.example/login www.evil.example x@evil.example",
		"**bold** _it_ - item\r- item\r1. one", "{{DATE(2026-11-28T10:00:00Z, SHORT)}} {{TIME(2026-11-28T10:00:00Z)}} {{{DATE(2026-11-28T10:00:00Z)}}}",
		"\u202egnp.exe\u2066 שלום \u200f", "a\x00b\x07\u0085\u2028c", "<b>b</b><script>alert(1)</script>&lt;at&gt;", `\[click](http://evil.example)`, strings.Repeat("ä", 10_000),
		strings.Repeat("[x](http://evil.example)", 500), "javascript://evil.example/%0aalert(1)", "${evil}", `"}]},"msteams":{"entities":[{"type":"mention"}]}`,
	}
}

func message(texts ...string) channel.Message {
	critical := alert.Critical
	m := channel.Message{
		ID: uuid.New(), At: time.Now(), Organization: texts[0], Rule: channel.Reference{Name: texts[0]}, PublicURL: ours,
	}
	for _, text := range texts {
		id := uuid.New()
		m.Events = append(m.Events, channel.Notice{Type: notification.AlertRaised, At: time.Now(), Title: text, Severity: &critical, AlertID: &id, Instance: &channel.Reference{Name: text}})
	}
	return m
}

type failing interface {
	Helper()
	Errorf(format string, values ...any)
}

func cardOf(t failing, m channel.Message) (raw []byte, c content) {
	t.Helper()
	body, err := teams.Body(m)
	var e envelope
	if err != nil || json.Unmarshal(body, &e) != nil || len(e.Attachments) != 1 || e.Type != "message" ||
		e.Attachments[0].ContentType != "application/vnd.microsoft.card.adaptive" {
		t.Errorf("%s, %v", body, err)
		return nil, c
	}
	if len(body) > 28*1024 {
		t.Errorf("a post has %d bytes", len(body))
	}
	strict := json.NewDecoder(bytes.NewReader(e.Attachments[0].Content))
	if err := strict.Decode(&c); err != nil || c.Type != "AdaptiveCard" || c.Version != "1.4" || c.MSTeams != nil {
		t.Errorf("%s, %v", e.Attachments[0].Content, err)
	}
	return e.Attachments[0].Content, c
}

// live is what a client could make something of by itself: a mention, an address, a date, a
// control or a change of direction.
var live = regexp.MustCompile(`(?i)<at|<[a-z/]|\{\{|//|[\pL\pN]\.\pL|[@＠][\pL\pN]|[\pL\pN][@＠]|[\x00-\x1f\x7f-\x9f\x{2028}\x{2029}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)

func judge(t failing, m channel.Message) {
	t.Helper()
	_, c := cardOf(t, m)
	for _, block := range c.Body {
		if block.Type != "RichTextBlock" { // the only one that reads no Markdown
			t.Errorf("text stands in a %s", block.Type)
		}
		for _, run := range block.Inlines {
			if found := live.FindString(run.Text); run.Type != "TextRun" || found != "" {
				t.Errorf("%s %q has %q", run.Type, run.Text, found)
			}
			if a := run.SelectAction; a != nil && (a.Type != "Action.OpenUrl" || !strings.HasPrefix(a.URL, ours+"/")) {
				t.Errorf("an event leads to %+v", *a)
			}
		}
	}
	if len(c.Actions) != 1 || c.Actions[0].Type != "Action.OpenUrl" || !strings.HasPrefix(c.Actions[0].URL, ours+"/") {
		t.Errorf("the card leads to %+v", c.Actions)
	}
}

// TestACardHasOnlyText: text of machines and people mentions nobody in Teams, and is neither a link nor a
// format. Its links lead to Muster.
func TestACardHasOnlyText(t *testing.T) {
	t.Parallel()
	for _, text := range nasty() {
		judge(t, message(text))
	}
	judge(t, message(nasty()...))
	if t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(nasty()), rapid.StringMatching("[\\[\\]()<>!@*_~`#|\\\\.:/&;{}a-z \n-]{1,6}")), 1, 4).Draw(t, "pieces")
		judge(t, message(strings.Join(pieces, "")))
	})
}

// TestACardIsCutToTheLimitOfTeams, and says how much more there is.
func TestACardIsCutToTheLimitOfTeams(t *testing.T) {
	t.Parallel()
	var long []string
	for range 100 {
		long = append(long, strings.Repeat("\"<ä>&", 2_000))
	}
	m := message(long...)
	m.Omitted = 900
	_, c := cardOf(t, m)
	last := c.Body[len(c.Body)-1].Inlines[0].Text
	shown := len(c.Body) - 2
	if want := "This card has no room for " + itoa(1000-shown) + " more. Muster shows all of them."; last != want || shown < 3 {
		t.Errorf("%d are shown, and the last sentence is %q", shown, last)
	}
	if _, c := cardOf(t, channel.Message{Organization: "Acme", PublicURL: ours, Events: []channel.Notice{}}); len(c.Body) != 1 || len(c.Actions) != 1 {
		t.Errorf("a test is %+v", c)
	}
}

func itoa(n int) string { text, _ := json.Marshal(n); return string(text) }

// judgeOfCards is Adaptive Cards' own library: it reads cards of version 1.4 and prints what it
// does not know, and what its rules say against them.
const judgeOfCards = `
import * as AC from "adaptivecards/dist/adaptivecards.js";
const { AdaptiveCard, SerializationContext, Versions } = AC.default ?? AC;
let text = "";
for await (const part of process.stdin) text += part;
for (const card of JSON.parse(text)) {
  const context = new SerializationContext(Versions.v1_4), read = new AdaptiveCard();
  read.parse(card, context);
  for (let i = 0; i < context.eventCount; i++) console.log(context.getEventAt(i).message);
  for (const e of read.validateProperties().validationEvents) console.log(e.message);
  for (const at of [...card.body.keys()]) if (!read.getItemAt(at)) console.log("an element is lost");
  if (read.getItemCount() !== card.body.length || read.getActionCount() !== 1) console.log("the card is not whole");
}
`

// TestCardsAreAdaptiveCards, as their own library judges. `make test` installs it and sets
// MUSTER_TEST_NPM, which makes a failure of its absence.
func TestCardsAreAdaptiveCards(t *testing.T) {
	t.Parallel()
	const home = "testdata/adaptivecards"
	node, missing := exec.LookPath("node")
	if _, err := os.Stat(home + "/node_modules/adaptivecards"); err != nil || missing != nil {
		if os.Getenv("MUSTER_TEST_NPM") != "" {
			t.Fatal("node, or npm ci in " + home + ", is missing")
		}
		t.Skip("needs npm ci in internal/notify/channel/teams/" + home)
	}
	var cards []json.RawMessage
	for _, m := range []channel.Message{message("Lag"), message(nasty()...), {Organization: "Acme", PublicURL: ours}} {
		raw, _ := cardOf(t, m)
		cards = append(cards, raw)
	}
	judged := func(cards []json.RawMessage) string {
		input, err := json.Marshal(cards)
		if err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", judgeOfCards)
		run.Dir, run.Stdin = home, bytes.NewReader(input)
		said, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s, %v", said, err)
		}
		return string(said)
	}
	if said := judged(cards); said != "" {
		t.Error(said)
	}
	broken := bytes.Replace(cards[0], []byte(`"RichTextBlock"`), []byte(`"PoorTextBlock"`), 1)
	if judged([]json.RawMessage{broken}) == "" {
		t.Error("the judge takes a card with an element that does not exist")
	}
}
