package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/mail/mailtest"
)

// Mails, by what they are about.
var (
	mailedReport = regexp.MustCompile(`/exports\?reportId=([0-9a-f-]{36})`)
	// deliveryMail is the Message-ID of a notification: of a delivery, to a recipient.
	deliveryMail = regexp.MustCompile(`^<([0-9a-f-]{36})\.([0-9a-f-]{36})@notifications\.muster\.internal>$`)
	// mailedEvent is an event in a notification: what happened, how severe, to what, when, and its page.
	mailedEvent = regexp.MustCompile(`(?m)^([A-Z][a-z ]+?)(?: after [a-z0-9 ]+)?(?: \(([a-z]+)\))?: (.+)\n(?:  .+\n)?  (\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC)\n  https?://[^/\s]+/(?:alerts|reports|schedules)/([0-9a-f-]{36})$`)
	mailedCount = regexp.MustCompile(`\A(\d+) events\n`)
	mailedMore  = regexp.MustCompile(`(?m)^There are (\d+) more\.$`)
)

// toldAs are the types of events by what a notification calls them.
var toldAs = map[string][]string{
	"Raised":          {"alert.raised", "alert.changed"},
	"Resolved":        {"alert.resolved", "alert.auto_resolved"},
	"Report failed":   {"report.failed"},
	"Schedule missed": {"schedule.missed"},
}

// sentMails is what mails say, as their recipients have it.
type sentMails struct {
	repeated int                        // mails that came again
	named    map[string]map[string]bool // events that notifications name, as toldKey has them, by recipient
	omitted  map[string]int             // how many more they only count, by recipient
}

func toldKey(what string, stream uuid.UUID) string { return what + " " + stream.String() }

// holdMails holds every second mail to one recipient about one report, or of one delivery, to the
// Message-ID of the first, and every notification to the logs: it names events that
// happened, as they happened, and none of them to the same recipient twice.
func (i installed) holdMails(t testing.TB, taken []mailtest.Mail) sentMails {
	t.Helper()
	sent := sentMails{named: map[string]map[string]bool{}, omitted: map[string]int{}}
	first := make(map[string]string)
	var streams map[uuid.UUID][]line
	for _, m := range taken {
		decoded := readMail(t, m.Data)
		decoded.text = strings.ReplaceAll(decoded.text, "\r\n", "\n")
		if strings.Contains(decoded.text, "/invitation#") { // each has a link of its own
			continue
		}
		id := decoded.header.Get("Message-Id")
		notification, about := deliveryMail.FindStringSubmatch(id), mailedReport.FindStringSubmatch(decoded.text)
		if notification != nil {
			about = notification
		}
		if about == nil || len(m.To) != 1 {
			t.Errorf("a mail to %v about nothing:\n%s", m.To, decoded.text)
			continue
		}
		key := m.To[0] + " " + about[1]
		before, again := first[key]
		first[key] = id
		switch {
		case again && before != id:
			t.Errorf("%s got %s and %s", key, before, id)
		case again:
			sent.repeated++
		case notification != nil:
			if streams == nil {
				streams = i.told(t)
			}
			for _, wrong := range sent.notification(m.To[0], about[1], decoded.text, streams) {
				t.Errorf("the mail %s to %s %s:\n%.3000s", id, m.To[0], wrong, decoded.text)
			}
		}
	}
	return sent
}

// told are the events that notifications may name, by stream and in their order.
func (i installed) told(t testing.TB) map[uuid.UUID][]line {
	t.Helper()
	streams := map[uuid.UUID][]line{}
	for _, e := range i.events(t) {
		for _, types := range toldAs {
			for _, each := range types {
				if each == e.Type {
					streams[e.StreamID] = append(streams[e.StreamID], e)
				}
			}
		}
	}
	return streams
}

// notification notes what a notification names, and returns what is wrong with it.
func (s *sentMails) notification(to, delivery, text string, streams map[uuid.UUID][]line) (wrongs []string) {
	wrong := func(format string, args ...any) { wrongs = append(wrongs, fmt.Sprintf(format, args...)) }
	if !strings.Contains(text, delivery) {
		wrong("does not say its delivery")
	}
	named := mailedEvent.FindAllStringSubmatch(text, -1)
	more, all := 0, 1
	if found := mailedMore.FindStringSubmatch(text); found != nil {
		more, _ = strconv.Atoi(found[1])
	}
	if found := mailedCount.FindStringSubmatch(text); found != nil {
		all, _ = strconv.Atoi(found[1])
	}
	if len(named) == 0 || len(named)+more != all {
		wrong("has %d events, of which it names %d and omits %d", all, len(named), more)
	}
	s.omitted[to] += more
	if s.named[to] == nil {
		s.named[to] = map[string]bool{}
	}
	for _, n := range named {
		what, severity, about, at := n[1], n[2], n[3], n[4]
		key := toldKey(what, uuid.MustParse(n[5]))
		if s.named[to][key] {
			wrong("names %q again", key)
		}
		s.named[to][key] = true
		if !happenedSo(streams[uuid.MustParse(n[5])], what, severity, about, at) {
			wrong("names %q (%s, %s, %s), and the logs have %+v", key, severity, about, at, streams[uuid.MustParse(n[5])])
		}
		if raise := toldKey("Raised", uuid.MustParse(n[5])); what == "Resolved" && !s.named[to][raise] && s.omitted[to] == 0 {
			wrong("names %q, whose raise %s was not told of", key, to)
		}
	}
	return wrongs
}

// happenedSo says whether a stream has an event as a notification names it.
func happenedSo(stream []line, what, severity, about, at string) bool {
	var title, is any = "", "" // of an alert as of the event
	for _, e := range stream {
		if strings.HasPrefix(e.Type, "alert.") && e.Data["title"] != nil {
			title, is = e.Data["title"], e.Data["severity"]
		}
		for _, each := range toldAs[what] {
			if e.Type == each && e.OccurredAt.UTC().Format("2 January 2006, 15:04 UTC") == at && severity == is && strings.HasPrefix(about, fmt.Sprint(title)) {
				return true
			}
		}
	}
	return false
}
