package printable

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, clean, text string }{
		"plain":                 {"orders-01", "orders-01", "orders-01"},
		"of another script":     {"größe 日本 عربي 🙂", "größe 日本 عربي 🙂", "größe 日本 عربي 🙂"},
		"joined":                {"क्\u200dष", "क्\u200dष", "क्\u200dष"},
		"two lines":             {"a\r\nBcc: x", "a\ufffd\ufffdBcc: x", "a\ufffd\nBcc: x"},
		"a tab":                 {"a\tb", "a\ufffdb", "a\tb"},
		"an escape sequence":    {"\x1b[2Jx", "\ufffd[2Jx", "\ufffd[2Jx"},
		"the same in one":       {"\u009b2Jx", "\ufffd2Jx", "\ufffd2Jx"},
		"NUL and DEL":           {"a\x00\x7f", "a\ufffd\ufffd", "a\ufffd\ufffd"},
		"turned around":         {"a\u202egpj.exe", "a\ufffdgpj.exe", "a\ufffdgpj.exe"},
		"isolated":              {"\u2066a\u2069\u200e\u061c", "\ufffda\ufffd\ufffd\ufffd", "\ufffda\ufffd\ufffd\ufffd"},
		"a line separator":      {"a\u2028b", "a\ufffdb", "a\ufffdb"},
		"no UTF-8":              {"a\xffb", "a\ufffdb", "a\ufffdb"},
		"nothing":               {"", "", ""},
		"what has been cleaned": {"a\ufffdb", "a\ufffdb", "a\ufffdb"},
	} {
		if got := Name(c.in); got != (c.in == c.clean) {
			t.Errorf("%s: a name is %v", name, got)
		}
		if got := IsText(c.in); got != (c.in == c.text) {
			t.Errorf("%s: a text is %v", name, got)
		}
		if got := Clean(c.in); got != c.clean {
			t.Errorf("%s: clean it is %q, want %q", name, got, c.clean)
		}
		if got := Text(c.in); got != c.text {
			t.Errorf("%s: as text it is %q, want %q", name, got, c.text)
		}
	}
}

// TestNamesThatLookTheSameStayDifferent: C11.
func TestNamesThatLookTheSameStayDifferent(t *testing.T) {
	t.Parallel()
	many := "a" + strings.Repeat("\n", 40)
	for name, want := range map[string]map[string]string{
		"none is like another": {"orders": "orders", "a\nb": "a\ufffdb", "a\nc": "a\ufffdc"},
		"two controls":         {"a\nb": "a\ufffdb (U+000A)", "a\tb": "a\ufffdb (U+0009)"},
		"in another order":     {"a\nb\tc": "a\ufffdb\ufffdc (U+000A U+0009)", "a\tb\nc": "a\ufffdb\ufffdc (U+0009 U+000A)"},
		"no UTF-8":             {"caf\xe9": "caf\ufffd (0xE9)", "caf\xe8": "caf\ufffd (0xE8)"},
		"the printed form":     {"a\ufffdb": "a\ufffdb", "a\nb": "a\ufffdb (U+000A)"},
		"the longer form":      {"a\nb": "a\ufffdb (U+000A)′", "a\tb": "a\ufffdb (U+0009)", "a\ufffdb (U+000A)": "a\ufffdb (U+000A)"},
		"many":                 {many: "", "a" + strings.Repeat("\t", 40): ""}, // with a digest
	} {
		var all []string
		for raw := range want {
			all = append(all, raw, raw)
		}
		got, seen := Names(all), map[string]bool{}
		for raw, form := range got {
			if seen[form] || !Name(form) || len(form) > 200 {
				t.Errorf("%s: %q is printed as %q", name, raw, form)
			}
			seen[form] = true
			if name != "many" && form != want[raw] {
				t.Errorf("%s: %q is printed as %q, want %q", name, raw, form, want[raw])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
