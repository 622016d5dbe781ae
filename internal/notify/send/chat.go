package send

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/domain/legible"
	"muster/domain/notification"
)

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
		notification.Slack: {
			plain: slackText,
			bold:  func(plain string) string { return "*" + plain + "*" },
			link:  func(plain, url string) string { return "<" + url + "|" + plain + ">" },
		},
		notification.Mattermost: {
			plain: mattermostText,
			bold:  func(plain string) string { return "**" + plain + "**" },
			link:  func(plain, url string) string { return "[" + plain + "](" + url + ")" },
		},
	}
}

// Chat is a message in the form of a chat's incoming webhooks: Slack's, which others
// understand too, or Mattermost's. What machines say in it mentions nobody and is no markup.
func Chat(m Message, format notification.Format) ([]byte, error) {
	form, ok := forms()[format]
	if !ok {
		return nil, fmt.Errorf("nobody can write to a chat in the form %q", format)
	}
	head := form.bold(form.plain(strings.TrimSpace(legible.Clean(m.Organization)))) + ": " + form.plain(legible.Clean(m.Rule.Name))
	if m.Demo {
		head = "[Demo] " + head
	}
	text, shown := head, 0
	for _, n := range m.Events {
		line := "\n• " + form.link(form.plain(shortened(Line(n))), Link(m.PublicURL, n)) + " " + n.At.UTC().Format("15:04 UTC")
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

func shortened(text string) string {
	if utf8.RuneCountInString(text) <= chatLine {
		return text
	}
	return string([]rune(text)[:chatLine-1]) + "…"
}

// unmentioned parts @ from its neighbors by spaces that nobody sees: a chat notifies everybody
// of @channel, @all, @here and @everyone, wherever they stand, and links mail addresses.
func unmentioned(text string) string { return ats.Replace(text) }

var ats = strings.NewReplacer("@", "\u200b@\u200b", "＠", "\u200b＠\u200b")

// unlinked keeps a chat from making a link of an address by its looks. It puts a space that
// nobody sees into "//", and behind a dot before a letter, as in a host's name or "www.". An
// alert's title is the label of a link to Muster, so that few copy names from it.
func unlinked(text string) string {
	var out strings.Builder
	var before rune
	for i, r := range text {
		out.WriteRune(r)
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		if r == '/' && next == '/' || r == '.' && before > ' ' && unicode.IsLetter(next) {
			out.WriteRune('\u200b')
		}
		before = r
	}
	return out.String()
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
	return unmentioned(unlinked(entities.Replace(lookalikes.Replace(upright(text)))))
}

func mattermostText(text string) string {
	return unmentioned(entities.Replace(escaped.Replace(unlinked(text))))
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
