package legible

import "testing"

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
