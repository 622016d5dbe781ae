// Package chat posts notifications to chats: in the form of Slack's incoming webhooks, which
// other chats understand, or in Mattermost's. Text from machines mentions nobody there and is no
// markup.
package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/domain/notification"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/notify/channel"
)

// Name is the name of the kind.
const Name notification.Kind = "chat"

// The formats.
const (
	Slack      notification.Format = "slack"
	Mattermost notification.Format = "mattermost"
)

// Formats returns every format.
func Formats() []notification.Format { return []notification.Format{Slack, Mattermost} }

// Kind is a POST to the incoming webhook of a chat. Its address is a secret.
func Kind() channel.Kind {
	return channel.Kind{Name: Name, Title: "Chat", Validate: validate, Shown: shown, Send: channel.Posted(post)}
}

func validate(c notification.Channel) []rule.Broken {
	broken := channel.Refuse(c, channel.URL, channel.Format)
	if c.Format != "" && !slices.Contains(Formats(), c.Format) {
		broken = append(broken, rule.Broken{Pointer: "#/format", Code: "invalid_parameter", Detail: "must be slack or mattermost"})
	}
	return append(broken, channel.BrokenURL(c.URL)...)
}

func shown(a notification.Address) notification.Address {
	a = channel.ShownHost(a)
	a.Format = formatOf(a)
	return a
}

// formatOf is Slack where nothing else is set.
func formatOf(a notification.Address) notification.Format { return cmp.Or(a.Format, Slack) }

func post(m channel.Message, to notification.Address, _ time.Time) (http.Header, []byte, error) {
	body, err := Body(m, formatOf(to))
	return http.Header{}, body, err
}

const (
	// chatLines is how many events a chat shows.
	chatLines = 20
	// chatLine is how many characters of an event it shows.
	chatLine = 300
	// chatRoom is how many characters a post has: Mattermost takes 16,383, Slack 40,000.
	chatRoom = 16_000
)

// chatForm is how a chat writes.
type chatForm struct {
	plain func(string) string // text of machines and people, of which nothing is markup
	bold  func(plain string) string
	link  func(plain, url string) string
}

// forms are the known ones.
func forms() map[notification.Format]chatForm {
	return map[notification.Format]chatForm{
		Slack: {
			plain: slackText,
			bold:  func(plain string) string { return "*" + plain + "*" },
			link:  func(plain, url string) string { return "<" + url + "|" + plain + ">" },
		},
		Mattermost: {
			plain: mattermostText,
			bold:  func(plain string) string { return "**" + plain + "**" },
			link:  func(plain, url string) string { return "[" + plain + "](" + url + ")" },
		},
	}
}

// Body is a message in the form of a chat's incoming webhooks: Slack's, which others
// understand too, or Mattermost's. What machines say in it mentions nobody and is no markup.
func Body(m channel.Message, format notification.Format) ([]byte, error) {
	form, ok := forms()[format]
	if !ok {
		return nil, fmt.Errorf("%q is not a supported form of chat messages", format)
	}
	head := form.bold(form.plain(strings.TrimSpace(printable.Clean(m.Organization)))) + ": " + form.plain(printable.Clean(m.Rule.Name))
	if m.Demo {
		head = "[Demo] " + head
	}
	text, shown := head, 0
	for _, n := range m.Events {
		line := "\n• " + form.link(form.plain(printable.Cut(channel.Line(n), chatLine)), channel.Link(m.PublicURL, n)) + " " + n.At.UTC().Format("15:04 UTC")
		if below := channel.Below(n); below != "" {
			line += "\n  " + form.plain(below)
		}
		if shown == chatLines || utf8.RuneCountInString(text)+utf8.RuneCountInString(line) > chatRoom {
			break
		}
		text, shown = text+line, shown+1
	}
	if more := len(m.Events) + m.Omitted - shown; more > 0 {
		text += fmt.Sprintf("\nand %d more", more)
	}
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return nil, fmt.Errorf("encode a chat's message: %w", err)
	}
	return body, nil
}

var (
	// entities are all that Slack's text has to escape. Mattermost shows them as what they are.
	entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	// lookalikes stand for what Slack takes for markup and cannot escape, and for what others,
	// which read Slack's form as Markdown, would take for a link.
	lookalikes = strings.NewReplacer("*", "∗", "~", "∼", "`", "ˋ", "|", "/", "](", "] (")
	// escaped are Markdown's.
	escaped = func() *strings.Replacer {
		var pairs []string
		for _, c := range "\\`*_{}[]()#+-.!|~$" {
			pairs = append(pairs, string(c), `\`+string(c))
		}
		return strings.NewReplacer(pairs...)
	}()
)

func slackText(text string) string {
	return channel.Unmentioned(channel.Unlinked(entities.Replace(lookalikes.Replace(upright(text)))))
}

func mattermostText(text string) string {
	return channel.Unmentioned(entities.Replace(escaped.Replace(channel.Unlinked(text))))
}

// upright replaces each underscore that could begin or end italics: those that are not
// between two letters or digits, as in pg_stat.
func upright(text string) string {
	runes := []rune(text)
	within := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		if r == '_' && (!within(i-1) || !within(i+1)) {
			runes[i] = '＿'
		}
	}
	return string(runes)
}
