// Package teams posts notifications to Microsoft Teams, as Adaptive Cards to a workflow of
// Power Automate ("Post to a channel when a webhook request is received").
//
// # Sources
//
// The envelope is that of learn.microsoft.com, "Create Incoming Webhooks with Workflows" and
// "Create an Incoming Webhook", which also has the limit of 28 KB for a message. Markdown is
// read in TextBlock and in facts, and not in TextRun (learn.microsoft.com, "Text features",
// "Format cards in Teams"). A mention needs an entity in the card's member msteams.
//
// # How it works
//
// Text from machines stands in TextRuns alone. A backslash would not do as an escape: the
// readers of Markdown in Teams' clients differ, and that of the phones (AdaptiveCards,
// MarkDownBlockParser.cpp) takes the brackets of an escaped link for a link. A TextRun has no Markdown at all. What
// clients do by themselves is kept off: a space that nobody sees stands in each @, in addresses,
// and in {{, which begins a function for dates. The card has no entities, so it mentions nobody.
package teams

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"muster/domain/notification"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/notify/channel"
)

// Name is the name of the kind.
const Name notification.Kind = "teams"

const (
	// room is how many bytes a post has. Teams takes 28 KB of a message, in an encoding of its
	// own: others saw posts of 22 KB refused.
	room = 20_000
	// lines is how many events a card shows.
	lines = 20
	// line is how many characters of an event it shows.
	line = 400
)

// Kind is a card in a channel of Microsoft Teams. Its address is a secret.
func Kind() channel.Kind {
	return channel.Kind{Name: Name, Title: "Microsoft Teams", Validate: validate, Shown: channel.ShownHost, Send: channel.Posted(post)}
}

func validate(c notification.Channel) []rule.Broken {
	return append(channel.Refuse(c, channel.URL), channel.BrokenURL(c.URL)...)
}

func post(m channel.Message, _ notification.Address, _ time.Time) (http.Header, []byte, error) {
	body, err := Body(m)
	return http.Header{}, body, err
}

// element is an element of a card, an action, or a run of text.
type element map[string]any

// Body is a message with one card. What it has no room for is counted in its last sentence.
func Body(m channel.Message) ([]byte, error) {
	for shown := min(len(m.Events), lines); ; shown-- {
		body, err := json.Marshal(envelope(card(m, shown)))
		if err != nil {
			return nil, fmt.Errorf("encode a card: %w", err)
		}
		if len(body) <= room || shown == 0 {
			return body, nil
		}
	}
}

func envelope(card element) element {
	return element{"type": "message", "attachments": []element{{
		"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card,
	}}}
}

func card(m channel.Message, shown int) element {
	head := printable.Cut(m.Organization+": "+m.Rule.Name, line)
	if m.Demo {
		head = "[Demo] " + head
	}
	body := []element{paragraph(element{"type": "TextRun", "text": plain(head), "weight": "Bolder"})}
	for _, n := range m.Events[:shown] {
		run := element{"type": "TextRun", "text": plain(printable.Cut(channel.Line(n), line)), "selectAction": open("", channel.Link(m.PublicURL, n))}
		at := element{"type": "TextRun", "text": " " + n.At.UTC().Format("15:04 UTC"), "isSubtle": true}
		body = append(body, paragraph(run, at))
		if below := channel.Below(n); below != "" {
			body = append(body, paragraph(element{"type": "TextRun", "text": plain(below)}))
		}
	}
	if more := len(m.Events) + m.Omitted - shown; more > 0 {
		body = append(body, paragraph(element{"type": "TextRun", "text": fmt.Sprintf("This card has no room for %d more. Muster shows all of them.", more)}))
	}
	to := strings.TrimRight(m.PublicURL, "/") + "/"
	if len(m.Events) == 1 && m.Omitted == 0 {
		to = channel.Link(m.PublicURL, m.Events[0])
	}
	return element{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
		"body": body, "actions": []element{open("Open in Muster", to)},
	}
}

func paragraph(runs ...element) element { return element{"type": "RichTextBlock", "inlines": runs} }

func open(title, url string) element {
	action := element{"type": "Action.OpenUrl", "url": url}
	if title != "" {
		action["title"] = title
	}
	return action
}

// plain is a text in which clients find nothing of their own: no mention, address or date.
func plain(text string) string {
	return braces.Replace(channel.Unmentioned(channel.Unlinked(printable.Clean(text))))
}

var braces = strings.NewReplacer("{{", "{\u200b{\u200b", "<", "<\u200b")
