package fleet

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/domain/printable"
	"muster/domain/rule"
)

// Bounds of the tags of an instance.
const (
	MaxTags     = 32
	MaxTagRunes = 100 // of a value

	MaxAlternatives = 100 // of one key in a filter
)

var tagKey = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,62}$`)

// TagKeyRule and TagValueRule say what a key and a value of a tag are.
const (
	TagKeyRule   = "must be a lower-case letter and then up to 62 lower-case letters, digits, dots, hyphens or underscores"
	TagValueRule = "must be 1 to 100 printable characters and no blank at either end"
)

// ValidTagKey reports whether a tag may have this key.
func ValidTagKey(key string) bool { return tagKey.MatchString(key) }

// ValidTagValue reports whether a tag may have this value.
func ValidTagValue(value string) bool {
	n := utf8.RuneCountInString(value)
	return n >= 1 && n <= MaxTagRunes && strings.TrimSpace(value) == value && printable.Name(value) && !strings.ContainsFunc(value, notPrintable)
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// TagSource says who set a tag: a person (also by the fleet file that people apply) or a feed.
// No feed changes a person's tag. Among feeds, the last one that set another value owns the
// tag, and only that one can remove it.
type TagSource string

// ByPerson is the source of what a person set.
const ByPerson TagSource = ""

// ByFeed is a feed by the name of its sender, which may be empty. An agent is a feed.
func ByFeed(sender string) TagSource {
	if sender == "" {
		return "feed"
	}
	return TagSource("feed:" + sender)
}

// Tag is the value of a key and who set it.
type Tag struct {
	Value string    `json:"value"`
	By    TagSource `json:"by,omitempty"`
}

// Tags are the tags of an instance by key.
type Tags map[string]Tag

// Values are the values by key.
func (t Tags) Values() map[string]string {
	values := make(map[string]string, len(t))
	for key, tag := range t {
		values[key] = tag.Value
	}
	return values
}

// Fed are those that feeds set.
func (t Tags) Fed() Tags {
	fed := Tags{}
	for key, tag := range t {
		if tag.By != ByPerson {
			fed[key] = tag
		}
	}
	return fed
}

// Apply are the tags after an event.
func (t Tags) Apply(e InstanceTagged) Tags {
	next := make(Tags, len(t)+len(e.Set))
	maps.Copy(next, t)
	for _, key := range e.Removed {
		delete(next, key)
	}
	for key, value := range e.Set {
		next[key] = Tag{Value: value, By: e.By}
	}
	return next
}

// ChangeTags is what is to become of the tags of an instance.
type ChangeTags struct {
	By TagSource
	// Set are keys and the values that they get.
	Set map[string]string
	// Remove are the keys to remove. Keys that do not exist are ignored.
	Remove []string
	// All has whatever Set does not name go: of a person all tags, of a feed those that it set.
	All bool
	// Protected are the keys that this caller may not change.
	Protected []string
}

// TooManyTagsError reports an instance that would have more tags than MaxTags.
type TooManyTagsError struct{ Would int }

func (e *TooManyTagsError) Error() string {
	return fmt.Sprintf("an instance has at most %d tags, not %d", MaxTags, e.Would)
}

// Tags are the tags of the instance.
func (i *Instance) Tags() Tags { return i.tags }

// Tag changes the tags of the instance. A tag that already has the value keeps its owner, so a
// person who sends all tags back takes over none. Tags that c may not change stay, and kept has
// their keys. Errors: *RemovedError, *TooManyTagsError.
func (i *Instance) Tag(c ChangeTags) (events []Event, kept []string, err error) {
	if !i.Known() {
		return nil, nil, &RemovedError{What: "instance"}
	}
	e := InstanceTagged{By: c.By, Set: map[string]string{}}
	for key, value := range c.Set {
		switch tag, there := i.tags[key]; {
		case there && tag.Value == value:
		case !c.may(key, tag, there):
			kept = append(kept, key)
		default:
			e.Set[key] = value
		}
	}
	for key, tag := range i.tags {
		switch _, set := c.Set[key]; {
		case set || !c.All && !slices.Contains(c.Remove, key), c.All && c.By != ByPerson && tag.By != c.By:
		case !c.may(key, tag, true):
			kept = append(kept, key)
		default:
			e.Removed = append(e.Removed, key)
		}
	}
	slices.Sort(kept)
	slices.Sort(e.Removed)
	if len(e.Set) == 0 && len(e.Removed) == 0 {
		return nil, kept, nil
	}
	if would := len(i.tags.Apply(e)); would > MaxTags {
		return nil, nil, &TooManyTagsError{Would: would}
	}
	return []Event{e}, kept, nil
}

// may reports whether a tag that is there, or is not, may be changed.
func (c ChangeTags) may(key string, is Tag, there bool) bool {
	return !slices.Contains(c.Protected, key) && (c.By == ByPerson || !there || is.By != ByPerson)
}

// TagFilter are the values that tags may have, by key: of one key any, and of all keys one.
type TagFilter map[string][]string

// ParseTag takes a filter's word apart: "env:prod".
func ParseTag(word string) (key, value string, ok bool) {
	key, value, found := strings.Cut(word, ":")
	return key, value, found && ValidTagKey(key) && ValidTagValue(value)
}

// Add adds an alternative.
func (f TagFilter) Add(key, value string) {
	if !slices.Contains(f[key], value) {
		f[key] = append(f[key], value)
	}
}

// Keys are the keys of the filter, sorted.
func (f TagFilter) Keys() []string { return slices.Sorted(maps.Keys(f)) }

// Words are the filter's keys with their values as ParseTag reads them, sorted.
func (f TagFilter) Words() []string {
	var words []string
	for _, key := range f.Keys() {
		for _, value := range slices.Sorted(slices.Values(f[key])) {
			words = append(words, key+":"+value)
		}
	}
	return words
}

// Broken adds the rules that the filter breaks as a scope or a selector. at is its place in the request.
func (f TagFilter) Broken(at string, broken *rule.Set) {
	if n := len(f); n > MaxTags {
		broken.Add(at, "too_many_items", fmt.Sprintf("has %d keys; at most %d are allowed", n, MaxTags))
	}
	for _, key := range f.Keys() {
		values, at := f[key], at+"/"+rule.Escape(key)
		switch {
		case !ValidTagKey(key):
			broken.Add(at, "invalid_name", TagKeyRule)
		case len(values) == 0 || len(values) > MaxAlternatives:
			broken.Add(at, "out_of_range", fmt.Sprintf("must have 1 to %d values", MaxAlternatives))
		}
		for i, value := range values {
			if !ValidTagValue(value) {
				broken.Add(fmt.Sprintf("%s/%d", at, i), "invalid_parameter", TagValueRule)
			}
		}
	}
}

// Passes reports whether tags pass the filter. Every tags pass one without keys.
func (f TagFilter) Passes(tags Tags) bool {
	for key, values := range f {
		if tag, there := tags[key]; !there || !slices.Contains(values, tag.Value) {
			return false
		}
	}
	return true
}
