package typeset

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jung-kurt/gofpdf"

	"muster/internal/report/snapshot/snapshottest"
)

func fonts(t testing.TB) *Fonts {
	t.Helper()
	return LoadFonts()
}

// What we measure must be what gofpdf prints, or text runs out of its box.
func TestWidthsMatchTheLibrary(t *testing.T) {
	t.Parallel()
	f := fonts(t)
	pdf := gofpdf.New("P", "pt", "A4", "")
	for face := range faceCount {
		pdf.AddUTF8FontFromBytes(face.family(), "", f.face(face).cut(f.runes(face)))
		pdf.SetFont(face.family(), "", 1000)
		compared := 0
		for r := rune(' '); r < 0xFFFF; r++ {
			if !f.has(face, r) {
				continue
			}
			compared++
			if got, want := f.Width(face, 1000, string(r)), pdf.GetStringWidth(string(r)); got != want {
				t.Errorf("%s U+%04X: %v, gofpdf has %v", face.family(), r, got, want)
			}
		}
		if compared < 500 {
			t.Errorf("%s: only %d glyphs", face.family(), compared)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	f := fonts(t)
	for in, want := range map[string]string{
		"plain_name-01":              "plain_name-01",
		"rocket 🚀":                   "rocket ‹U+1F680›",
		"admin\u202egpj.exe":         "admin‹U+202E›gpj.exe",
		"\u2066a\u2069":              "‹U+2066›a‹U+2069›",
		"bad\xff\xc3(":               "bad‹0xFF›‹0xC3›(",
		"a\x00b\x1b[31m\x7f":         "a‹U+0000›b‹U+001B›[31m‹U+007F›",
		"nb\u00a0 sh\u00ad zw\u200b": "nb‹U+00A0› sh‹U+00AD› zw‹U+200B›",
		"line\nfeed\ttab":            "line‹U+000A›feed‹U+0009›tab",
		"데이터 数据库 データ、ベース":            "데이터 数据库 データ、ベース",
		"\u1103\u1166 𠀀 ⼀":           "‹U+1103›‹U+1166› ‹U+20000› ‹U+2F00›",
		"Čeština Ελλ Рус ﬁ → ✓":      "Čeština Ελλ Рус ﬁ → ✓",
		"שרת خادم":                   "שרת \uFEA7\uFE8E\uFEA9\uFEE1", // the letters are joined
		"\ue000\ufffe\u2028":         "‹U+E000›‹U+FFFE›‹U+2028›",
		"\ufffd":                     "\ufffd",
	} {
		if got := f.Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := f.CleanLines("a\r\nb\rc\n\td\v"); got != "a\nb\nc\n  d‹U+000B›" {
		t.Errorf("CleanLines: %q", got)
	}
}

// Two different strings never look alike, and nothing unprintable is left.
func FuzzClean(f *testing.F) {
	faces := fonts(f)
	for _, s := range snapshottest.Nasty() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, clean := range []string{faces.Clean(s), faces.CleanLines(s)} {
			if !utf8.ValidString(clean) {
				t.Fatalf("%q became invalid %q", s, clean)
			}
			for _, r := range clean {
				if r != '\n' && (hidden(r) || !faces.printable(r)) {
					t.Fatalf("%q keeps U+%04X", s, r)
				}
			}
		}
		if again := faces.Clean(faces.Clean(s)); again != faces.Clean(s) {
			t.Fatalf("%q: cleaning twice changes it", s)
		}
		for _, l := range faces.wrap([]Span{{faces.CleanLines(s), Style{Size: 8}}}, 40) {
			if l.width > 40.001 && utf8.RuneCountInString(l.pieces[0].Text) > 1 {
				t.Fatalf("%q: a line of %v points", s, l.width)
			}
		}
	})
}

func lines(f *Fonts, s string, width float64) []string {
	var out []string
	for _, l := range f.wrap([]Span{{s, Style{Size: 10}}}, width) {
		text := ""
		for _, p := range l.pieces {
			text += p.Text
		}
		out = append(out, text)
	}
	return out
}

func TestWrap(t *testing.T) {
	t.Parallel()
	f := fonts(t)
	for _, tc := range []struct {
		text  string
		width float64
		want  string
	}{
		{"the quick brown fox", 60, "the quick|brown fox"},
		{"use scram-sha-256 now", 70, "use|scram-sha-256|now"},             // a word that fits a line stays whole
		{"db_server_with_a_long_name", 60, "db_server_|with_a_long_|name"}, // a longer one breaks after _
		{"host.example.org", 45, "host.|example.|org"},
		{"10.20.30.40", 30, "10.20.|30.40"}, // numbers have no break points; anywhere then
		{"xxxxxxxxxxxxxxxxxxxx", 50, "xxxxxxxxxx|xxxxxxxxxx"},
		{"a\n\nb", 100, "a||b"},
		{"", 100, ""},
		{"数据库服务器一号", 35, "数据库|服务器|一号"}, // between ideographs, filling the line
		{"本番、データベース", 40, "本番、|データ|ベース"},
		{"订单（主）库", 30, "订单|（主）|库"}, // not before what closes, nor behind what opens
		{"crm数据库", 35, "crm数|据库"},
	} {
		if got := strings.Join(lines(f, tc.text, tc.width), "|"); got != tc.want {
			t.Errorf("%q in %v: %q, want %q", tc.text, tc.width, got, tc.want)
		}
	}
}

func TestLimitCountsTheOmittedText(t *testing.T) {
	t.Parallel()
	f := fonts(t)
	all := f.wrap([]Span{{strings.Repeat("x", 5000), Style{Size: 10}}}, 200)
	got := f.limit(all, 3, 200)
	if len(got) != 3 || got[2].pieces[0].Text != "… 4,920 more characters" {
		t.Errorf("%d lines, the last %v", len(got), got[len(got)-1].pieces)
	}
}

func TestVisualOrder(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"abc":           "abc",
		"אבג":           "גבא",
		"db אב גד x":    "db דג בא x",
		"אב12גד":        "בא12דג",
		"שָׁלוֹם":       "םוֹלשָׁ",
		"left אב right": "left בא right",
	} {
		if got := visual(in); got != want {
			t.Errorf("visual(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 31204: "31,204", 1002003: "1,002,003", -1500: "-1,500"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

var look = Look{Head: Style{Face: Bold, Size: 7}, Body: Style{Face: Regular, Size: 8}, Note: Style{Face: Regular, Size: 8}, Leading: 1.3, PadX: 4, PadY: 3, Zebra: 0xF0F0F0}

func tableOf(rows int) Table {
	return Table{
		Look: look, Columns: []Column{{Title: "Number", Align: Right}, {Title: "Words", Flex: 1}}, Rows: rows, Rest: "The rest is elsewhere.",
		Row: func(i int) []Cell { return []Cell{{Text: fmt.Sprint(i)}, {Text: "row"}} },
	}
}

// texts are the words of a page in drawing order.
func texts(p *Page) []string {
	var out []string
	for _, o := range p.ops {
		if o.kind == opText {
			out = append(out, o.text)
		}
	}
	return out
}

func TestTableRepeatsItsHead(t *testing.T) {
	t.Parallel()
	d := NewPaper(fonts(t), "A4", Margin{50, 50, 50, 50})
	d.Y = d.Bottom() - 30 // room for the head, not for a row with it
	d.Table(tableOf(100))
	if n := len(texts(d.pages[0])); n != 0 {
		t.Errorf("a head was left alone at the foot of a page: %q", texts(d.pages[0]))
	}
	if len(d.pages) < 3 {
		t.Fatalf("%d pages", len(d.pages))
	}
	rows := 0
	for i, p := range d.pages[1:] {
		words := texts(p)
		if words[0] != "Number" || words[1] != "Words" {
			t.Errorf("page %d begins with %q", i+2, words[:2])
		}
		for _, o := range p.ops {
			if o.kind == opText && float64(o.y) > d.Bottom() {
				t.Errorf("page %d: %q below the margin", i+2, o.text)
			}
			if o.text == "row" {
				rows++
			}
		}
	}
	if rows != 100 {
		t.Errorf("%d rows printed", rows)
	}
}

func TestALongTableNamesItsOmittedRows(t *testing.T) {
	t.Parallel()
	d := NewPaper(fonts(t), "Letter", Margin{50, 50, 50, 50})
	d.Table(tableOf(MaxRows + 11_204))
	last := strings.Join(texts(d.Page()), " ")
	if want := "Rows 1–20,000 of 31,204. The rest is elsewhere."; !strings.Contains(last, want) {
		t.Errorf("last page: %q", last)
	}
	if d.Width != 612 || d.Height != 792 {
		t.Errorf("Letter is %v × %v", d.Width, d.Height)
	}
}

// A heading and its introduction go where the table that they introduce goes.
func TestAHeadingMovesWithItsTable(t *testing.T) {
	t.Parallel()
	introduce := func(d *Paper) {
		d.Keep()
		d.Mark("heading", 0)
		d.Page().Text(d.Left(), d.Y+10, look.Body, Left, "heading")
		d.Page().Link(d.Left(), d.Y, 10, 10, 0)
		d.Y += 20
	}
	d := NewPaper(fonts(t), "A4", Margin{50, 50, 50, 50})
	d.Page().Text(50, 100, look.Body, Left, "before")
	d.Y = d.Bottom() - 40
	introduce(d)
	d.Table(tableOf(3))
	if got := strings.Join(texts(d.pages[0]), " "); got != "before" || len(d.pages[0].jumps) != 0 {
		t.Errorf("page 1: %q, jumps %v", got, d.pages[0].jumps)
	}
	if got := texts(d.pages[1]); got[0] != "heading" || got[1] != "Number" || d.pages[1].ops[0].y != 60 || d.pages[1].jumps[0].y != 50 {
		t.Errorf("page 2: %q at %v", got, d.pages[1].ops[0].y)
	}
	if m := d.marks[0]; m.Page != 2 || m.Y != 50 {
		t.Errorf("the mark leads to %+v", m)
	}

	d = NewPaper(fonts(t), "A4", Margin{50, 50, 50, 50})
	d.Y = d.Bottom() - 400
	introduce(d)
	d.Y = d.Bottom() // as if much had followed
	d.Need(10)
	if got := texts(d.pages[0]); len(got) != 1 || d.marks[0].Page != 1 {
		t.Errorf("too much was moved: %q left", got)
	}
}

// The widest columns give way; a date stays in one piece.
func TestNarrowColumnsStayWhole(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		widths, want []float64
		flex         float64
	}{
		{[]float64{20, 30, 40, 0}, []float64{20, 30, 40, 110}, 1},
		{[]float64{20, 300, 90, 0}, []float64{20, 65, 65, 50}, 1},
		{[]float64{20, 30}, []float64{80, 120}, 0}, // nothing flexible: all grow
		{[]float64{100, 300}, []float64{100, 100}, 0},
	} {
		columns := make([]Column, len(tc.widths))
		fixed := 0.0
		for _, w := range tc.widths {
			fixed += w
		}
		if tc.flex > 0 {
			columns[len(columns)-1].Flex = tc.flex
		}
		share(columns, tc.widths, fixed, tc.flex, 200)
		if fmt.Sprint(tc.widths) != fmt.Sprint(tc.want) {
			t.Errorf("widths %v, want %v", tc.widths, tc.want)
		}
	}
}
