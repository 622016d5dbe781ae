package httpapi

import (
	"fmt"
	"strings"
	"testing"
)

// TestFaultsAreBounded: what is wrong with a body costs no more than the body.
// Anyone may send 64 KiB, and 4 MiB hold a million items that lack everything.
func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	c, err := ourContract()
	if err != nil {
		t.Fatal(err)
	}
	alerts := c.routes[routeKey("POST", nativePath)].body().Content["application/json"].Schema.Value
	many := func(n int, name string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%s%d":0`, name, i)
		}
		return b.String()[1:]
	}
	for name, test := range map[string]struct {
		body string
		want int
	}{
		"members of the whole":    {`{"alerts":[],` + many(20_000, "m") + `}`, maxFaults},
		"members of an item":      {`{"alerts":[{` + many(20_000, "m") + `}]}`, maxFaults},
		"items that lack all":     {`{"alerts":[` + strings.Repeat(`{},`, 100_000) + `{}]}`, maxFaults},
		"items of another type":   {`{"alerts":[` + strings.Repeat(`null,`, 100_000) + `null]}`, maxFaults},
		"one in each of the most": {`{"alerts":[` + strings.Repeat(`0,`, maxFaults-2) + `0]}`, maxFaults - 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value, p := parseJSON([]byte(test.body))
			if p != nil {
				t.Fatal(p)
			}
			found := visit(alerts, value)
			if len(found) != test.want {
				t.Errorf("%d faults are named, want %d", len(found), test.want)
			}
			places := make(map[string]bool)
			for _, f := range found {
				places[f.pointer] = true
			}
			if len(places) != len(found) {
				t.Errorf("%d faults are in %d places", len(found), len(places))
			}
		})
	}
}
