package usecase

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"muster/domain/printable"
	"muster/domain/rule"
)

// Bounds of what a feed may say.
const (
	MaxItems   = 10_000 // of one call, instances or alerts
	MaxIDRunes = 200

	maxTextRunes = 255
	maxAhead     = 5 * time.Minute // a sender's clock may be this far ahead
)

// Check collects what is wrong with a call, at most MaxBroken broken rules. Now is when the
// call came.
type Check struct {
	Now    time.Time
	broken []rule.Broken
}

// TooMany refuses a list with more than MaxItems items. Error: *RuleError.
func TooMany(pointer string, items int) error {
	if items <= MaxItems {
		return nil
	}
	e := FieldError(pointer, "too_many_items", fmt.Sprintf("has %d items; at most %d are allowed in one call", items, MaxItems))
	e.Fields[0].Params = map[string]any{"max": MaxItems}
	return e
}

// Err is a *RuleError with all that was refused; nil: nothing was.
func (c *Check) Err() error { return FieldErrors(c.broken) }

// Refuse adds a broken rule.
func (c *Check) Refuse(pointer, code, detail string) {
	if len(c.broken) < MaxBroken {
		c.broken = append(c.broken, rule.Broken{Pointer: pointer, Code: code, Detail: detail})
	}
}

// ExternalID holds the externalId of the item at a pointer to its rules; seen has those of the
// items before it, and gets this one.
func (c *Check) ExternalID(at, id string, seen map[string]bool) {
	pointer := at + "/externalId"
	switch {
	case id == "" || utf8.RuneCountInString(id) > MaxIDRunes || strings.ContainsRune(id, 0):
		c.Refuse(pointer, "out_of_range", fmt.Sprintf("must be 1 to %d characters", MaxIDRunes))
	case !printable.Name(id):
		c.Refuse(pointer, "invalid_name", printable.Rule)
	case seen[id]:
		c.Refuse(pointer, "duplicate_external_id", "is in this call twice")
	}
	seen[id] = true
}

// Text holds a short text to its rules; it has at least so many characters.
func (c *Check) Text(pointer, text string, least int) {
	c.Name(pointer, text, least, maxTextRunes)
}

// Name holds a name of least to most characters to its rules.
func (c *Check) Name(pointer, text string, least, most int) {
	switch n := utf8.RuneCountInString(text); {
	case n < least || n > most || strings.ContainsRune(text, 0):
		c.Refuse(pointer, "out_of_range", fmt.Sprintf("must be %d to %d characters, none of them U+0000", least, most))
	case !printable.Name(text):
		c.Refuse(pointer, "invalid_name", printable.Rule)
	}
}

// Optional is Text for a text that may be left out.
func (c *Check) Optional(pointer string, text *string) {
	if text != nil {
		c.Text(pointer, *text, 0)
	}
}

// Time refuses a time that is further ahead than clocks differ.
func (c *Check) Time(pointer string, at time.Time) {
	if at.After(c.Now.Add(maxAhead)) {
		c.Refuse(pointer, "time_in_future", "lies more than 5 minutes in the future")
	}
}
