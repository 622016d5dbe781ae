package sqltext_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"muster/domain/fleet"
	"muster/internal/engine"
	"muster/internal/intake/sqltext"
)

// FuzzNormalize: for any input, the output is short, valid, free of literals and comments, and
// the same when it is normalized again.
func FuzzNormalize(f *testing.F) {
	for of, p := range plants {
		for _, statement := range append(p.statements, p.utilities...) {
			for _, literal := range p.literals {
				f.Add(string(of), strings.NewReplacer("#", literal, "~", " ", "§", "s").Replace(statement))
			}
			for _, comment := range p.comments {
				f.Add(string(of), strings.NewReplacer("#", "1", "~", comment, "§", "s").Replace(statement))
			}
		}
	}
	quoted := map[fleet.Engine]*regexp.Regexp{
		pg: regexp.MustCompile(`"(?:[^"]|"")*"`), ms: regexp.MustCompile(`\[(?:[^]]|]])*]`), ora: regexp.MustCompile(`"(?:[^"]|"")*"`),
	}
	number := regexp.MustCompile(`(?:^|[^\p{L}\p{M}\p{N}\p{Pc}$#@])[0-9]`)
	f.Fuzz(func(t *testing.T, of, text string) {
		got := engine.Normalize(fleet.Engine(of), text)
		if len(got) > sqltext.MaxBytes || !utf8.ValidString(got) {
			t.Fatalf("%q: %d bytes", got, len(got))
		}
		if got == "" {
			return
		}
		if again := engine.Normalize(fleet.Engine(of), got); again != got {
			t.Fatalf("%q\n%q\n%q", text, got, again)
		}
		bare := quoted[fleet.Engine(of)].ReplaceAllString(got, "x")
		if strings.ContainsAny(bare, `'"`) || strings.Contains(bare, "--") || strings.Contains(bare, "/*") || number.MatchString(bare) {
			t.Fatalf("%q\n%q", text, got)
		}
	})
}
