package sheet

// Tone is the color of a word or a mark. It never speaks alone: the word beside it says the same.
type Tone string

// The tones. Good is for what was looked at and is well, and for nothing else.
const (
	Plain    Tone = ""
	Good     Tone = "good"
	Muted    Tone = "muted"
	Critical Tone = "critical"
	Warning  Tone = "warning"
	Info     Tone = "info"
	Caution  Tone = "caution" // what nobody knows or was told
)

// Sheet is a summary.
type Sheet struct {
	State   string   `json:"state"`           // of analysis.Verdict
	Lead    string   `json:"lead"`            // the one sentence
	Rest    string   `json:"rest"`            // what else matters; may be empty
	First   string   `json:"first,omitempty"` // what to do first; empty: nothing
	Figures []Figure `json:"figures"`
	// Bars is the picture below the figures; nil: there is none.
	Bars *Bars `json:"bars,omitempty"`
	// Burn is another picture there; nil: there is none.
	Burn     *Burn     `json:"burn,omitempty"`
	Sections []Section `json:"sections"`
}

// Section returns the section of that id, and whether there is one.
func (s Sheet) Section(id string) (Section, bool) {
	for _, section := range s.Sections {
		if section.ID == id {
			return section, true
		}
	}
	return Section{}, false
}

// Figure is a number at the head of page 1. Before is the sign that stands before it where the figures are a sum.
type Figure struct {
	Before string `json:"before,omitempty"` // +, −, =
	Name   string `json:"name"`
	Value  string `json:"value"`
	Note   string `json:"note"`
	Tone   Tone   `json:"tone,omitempty"`
}

// Bars are pairs of bars on one axis of time, the first up and the second down, and a line on the same scale.
type Bars struct {
	Up   string `json:"up"`
	Down string `json:"down"`
	Line string `json:"line"`
	Note string `json:"note"` // the picture in words
	Days []Day  `json:"days"`
}

// Day is an entry of Bars.
type Day struct {
	Name  string `json:"name"`
	Up    int    `json:"up"`
	Down  int    `json:"down"`
	Level int    `json:"level"`
}

// Burn has a row per server with what was left of its budget at the end of each day.
type Burn struct {
	Name string    `json:"name"`
	Note string    `json:"note"`
	Days []string  `json:"days"`
	Rows []BurnRow `json:"rows"`
}

// BurnRow is a server. Text is what is left of its budget.
type BurnRow struct {
	Of   string    `json:"of"`
	Text string    `json:"text"`
	Tone Tone      `json:"tone,omitempty"`
	Days []BurnDay `json:"days"`
}

// BurnDay is a day in percent of the budget: what is left of it, and what is left at least, if all unknown time was
// down. A day that has not come, or on which the server was not there, has nothing.
type BurnDay struct {
	Left  float64 `json:"left"`
	Least float64 `json:"least"`
}

// Section is a heading with its parts. ID is a report.Section.
type Section struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Parts []Part `json:"parts"`
}

// Part is one of a paragraph, a table or spans, in this order, under a heading of its own or none.
type Part struct {
	Title string `json:"title,omitempty"`
	Aside string `json:"aside,omitempty"` // at the right end of the heading
	Words string `json:"words,omitempty"`
	Empty bool   `json:"empty,omitempty"` // Words says that there is nothing, and that somebody looked
	Table *Table `json:"table,omitempty"`
	Spans *Spans `json:"spans,omitempty"`
	Note  string `json:"note,omitempty"` // small, below
}

// Table has a name for those who cannot see its place.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Column is a column of a table. Weight is its share of the width; 0: as narrow as its contents.
type Column struct {
	Name   string  `json:"name"`
	Right  bool    `json:"right,omitempty"`
	Weight float64 `json:"weight,omitempty"`
}

// Row is a row of a table. Total is set off from the others.
type Row struct {
	Cells []Cell `json:"cells"`
	Total bool   `json:"total,omitempty"`
}

// Cell is one fact. Note is what stands beside or below it, in gray.
type Cell struct {
	Text   string `json:"text"`
	Note   string `json:"note,omitempty"`
	Strong bool   `json:"strong,omitempty"`
	Tone   Tone   `json:"tone,omitempty"`
}

// Spans are durations on one logarithmic axis: a dot for the median and a bar to the 90th percentile.
type Spans struct {
	Name string `json:"name"`
	Rows []Span `json:"rows"`
}

// Span is a row of Spans, in seconds; nil: it is not known.
type Span struct {
	Name       string   `json:"name"`
	Tone       Tone     `json:"tone,omitempty"`
	Median     *float64 `json:"median"`
	Ninetieth  *float64 `json:"ninetieth"`
	MedianText string   `json:"medianText"` // "at least 3 h" where too many are still open
	NinetyText string   `json:"ninetiethText"`
	Note       string   `json:"note"` // of how many, and how many are still open
}
