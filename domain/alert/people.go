package alert

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/domain/printable"
)

// Person is whose session it is of which an alert about a wait for a lock speaks. It is never in the log: it is kept beside
// it for the organization's inputsRetentionDays, and its digest is in the event.
type Person struct {
	Session     string     `json:"session"` // as in BlockedSession
	Began       *time.Time `json:"began,omitempty"`
	User        string     `json:"user,omitempty"`
	Application string     `json:"application,omitempty"`
	Client      string     `json:"client,omitempty"`
}

// Known says that there is something to keep.
func (p Person) Known() bool { return p.User != "" || p.Application != "" || p.Client != "" }

// Is says that a person is that of a session: another session may have its id later.
func (p Person) Is(s BlockedSession) bool {
	return p.Session == s.Session && (p.Began == nil && s.Began == nil || p.Began != nil && s.Began != nil && p.Began.Equal(*s.Began))
}

// PeopleDigest is 128 bits of an HMAC under a salt, in hex: without the salt, which is erased with the people, nobody can
// test a guess against it. Empty: there are none.
func PeopleDigest(salt []byte, people []Person) string {
	if len(people) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, salt)
	for _, p := range people {
		began := ""
		if p.Began != nil {
			began = p.Began.UTC().Format(time.RFC3339Nano)
		}
		for _, part := range []string{p.Session, began, p.User, p.Application, p.Client} {
			fmt.Fprintf(mac, "%d:%s", len(part), part)
		}
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// longestName is how many characters of a name a title has.
const longestName = 60

// called is what a person is called in front of a verb, and what else is to be said of them; empty: nothing is known.
func (p Person) called() (name, about string) {
	user := "user " + shortName(p.User)
	switch {
	case p.Application != "" && p.User != "":
		return "app " + shortName(p.Application), user
	case p.Application != "":
		return "app " + shortName(p.Application), ""
	case p.User != "":
		return user, ""
	}
	return "", ""
}

func shortName(name string) string { return printable.Cut(name, longestName) }

// The titles of alerts about a wait for a lock, as package watch writes them behind the server's name: who blocks others, by
// the id of a session. The log has them so.
var (
	aSession  = regexp.MustCompile(`^((?:.*?: )?)session (\S+?)(?:, (.*?),)?( blocks .*)$`)
	aPrepared = regexp.MustCompile(`^((?:.*?: )?prepared transaction (.*?))( blocks .*)$`)
	aCycle    = regexp.MustCompile(`^((?:.*?: )?)sessions (.*?)( wait for each other.*)$`)
	aRest     = regexp.MustCompile(` and \d+ more$`)
)

// Named is the title of an alert for those who may see whose sessions it speaks of: "session 24749, idle in transaction for
// 4 min, blocks 12 sessions" becomes "app billing (user bill, idle in transaction for 4 min) blocks 12 sessions". Without
// people, or of another alert, it is the title itself.
func Named(title string, people []Person) string {
	if len(people) == 0 {
		return title
	}
	if part := aCycle.FindStringSubmatch(title); part != nil {
		rest := aRest.FindString(part[2])
		sessions := strings.Split(strings.TrimSuffix(part[2], rest), ", ")
		for i, session := range sessions {
			name, about := personOf(people, session).called()
			sessions[i] += bracket(name, about)
		}
		return part[1] + "sessions " + strings.Join(sessions, ", ") + rest + part[3]
	}
	if part := aPrepared.FindStringSubmatch(title); part != nil {
		if p := personOf(people, "prepared "+part[2]); p.User != "" {
			return part[1] + bracket("user "+shortName(p.User)) + part[3]
		}
		return title
	}
	if part := aSession.FindStringSubmatch(title); part != nil {
		if name, about := personOf(people, part[2]).called(); name != "" {
			return part[1] + name + bracket(about, part[3]) + part[4]
		}
	}
	return title
}

// bracket is what is said beside a name, in brackets; empty parts are left out.
func bracket(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// personOf is who has the id of a session: of several the one whose session began last.
func personOf(people []Person, session string) (found Person) {
	for _, p := range people {
		if p.Session == session && (found.Began == nil || p.Began != nil && p.Began.After(*found.Began)) {
			found = p
		}
	}
	return found
}

// Mentioned are the people of whom a title speaks.
func Mentioned(title string, people []Person) []Person {
	return slices.DeleteFunc(slices.Clone(people), func(p Person) bool { return Named(title, []Person{p}) == title })
}
