package mail

import (
	_ "embed" // the templates
	"strings"

	"muster/domain/printable"
)

// Brief is what page 1 of a report says first.
type Brief struct {
	State   string // of the verdict, in words
	Verdict string // its first sentence
	Rest    string // may be empty
	Color   string // of the state: #rrggbb
	Facts   []Fact
}

// Fact is a line below the verdict.
type Fact struct {
	Label, Words string
	Begins       bool // what to do first
}

var (
	//go:embed templates/brief.html
	briefHTML string // the row of ${Brief}
	//go:embed templates/brief_fact.html
	briefFactHTML string // a line of it
)

// The colors of verdicts in a mail: each reaches 3:1 on white and on the ground of the dark form, as a bar beside the
// words has to.
const (
	colorUnknown = "#a87a12"
	colorNothing = "#7c8795"
	colorGreen   = "#2f9460"
)

// StateColor is the color of a verdict's state. It is green only if green says that it may be.
func StateColor(state string, green bool) string {
	if green {
		return colorGreen
	}
	switch state {
	case "Critical":
		return "#d0394f"
	case "High":
		return "#d2601f"
	case "Medium":
		return colorUnknown
	case "Low":
		return "#5585b8"
	case "Unknown":
		return colorUnknown
	}
	return colorNothing
}

// clean is the brief with every text as it may be printed.
func (b *Brief) clean() *Brief {
	if b == nil {
		return nil
	}
	c := &Brief{State: printable.Clean(b.State), Verdict: printable.Clean(b.Verdict), Rest: printable.Clean(b.Rest), Color: b.Color}
	for _, f := range b.Facts {
		c.Facts = append(c.Facts, Fact{Label: f.Label, Words: printable.Clean(f.Words), Begins: f.Begins})
	}
	return c
}

// text is the brief in lines.
func (b *Brief) text() string {
	lines := "Verdict: " + b.State + "\n" + wrapped(b.Verdict+" "+b.Rest) + "\n\n"
	for _, f := range b.Facts {
		if f.Begins {
			lines += "\n"
		}
		lines += "  " + f.Label + strings.Repeat(" ", max(1, 10-len(f.Label))) + f.Words + "\n"
	}
	return lines
}

// page is the row of the brief, in which every value is escaped.
func (b *Brief) page() string {
	rows := ""
	for _, f := range b.Facts {
		top, weight := "3px", "400"
		if f.Begins {
			top, weight = "14px", "600"
		}
		rows += filled(briefFactHTML, map[string]string{"Label": f.Label, "Words": f.Words, "Top": top, "Weight": weight})
	}
	row := filled(briefHTML, map[string]string{"State": b.State, "Verdict": b.Verdict, "Rest": b.Rest, "Color": b.Color, "Facts": "\x00"})
	return strings.Replace(row, "\x00", rows, 1)
}

// wrapped breaks a text at spaces into lines of at most 78 bytes, unless a word is longer.
func wrapped(text string) string {
	const most = 78
	var lines strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+len(word) > most:
			lines.WriteByte('\n')
			at = 0
		default:
			lines.WriteByte(' ')
			at++
		}
		lines.WriteString(word)
		at += len(word)
	}
	return lines.String()
}
