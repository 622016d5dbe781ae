package witness_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"muster/eventstore/witness"
)

var sum = strings.Repeat("9f2c", 16)

func TestParseReadsFormattedWitnesses(t *testing.T) {
	t.Parallel()
	whole := witness.Format("fleet", 1204, sum)
	if want := "fleet:1204:" + sum; whole != want {
		t.Fatalf("got %q, want %q", whole, want)
	}
	for _, test := range []struct{ name, text, log string }{
		{"as written", whole, "fleet"},
		{"without a log", "1204:" + sum, "reports"},
		{"copied with its line's end", " " + whole + "\n", "fleet"},
		{"broken in a narrow column", whole[:30] + "\n    " + whole[30:], "fleet"},
		{"in capitals", "fleet:1204:" + strings.ToUpper(sum), "fleet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			log, position, hash, err := witness.Parse(test.text)
			if err != nil || log != test.log || position != 1204 || hex.EncodeToString(hash) != sum {
				t.Errorf("got %q, %d, %x, %v", log, position, hash, err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "7", ":7:" + sum, "reports:" + sum, "a:b:7:" + sum, "-1:" + sum, "x:" + sum, "1,204:" + sum,
		"7:" + sum[2:], "7:" + sum + "ab", "7:" + sum[:62] + "zz", "7:" + sum[:16] + "…",
	} {
		_, _, _, err := witness.Parse(text)
		var format *witness.FormatError
		if !errors.As(err, &format) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
