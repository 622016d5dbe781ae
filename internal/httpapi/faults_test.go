package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
)

// TestFaultsAreBounded: what is wrong with a body costs no more than the body.
// Anyone may send 64 KiB, and 4 MiB hold a million items that lack everything.
func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	c, err := ourContract()
	if err != nil {
		t.Fatal(err)
	}
	alerts := c.Routes[contract.RouteKey("POST", nativePath)].Body().Content["application/json"].Schema.Value
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
		"members of the whole":    {`{"alerts":[],` + many(20_000, "m") + `}`, wire.MaxFaults},
		"members of an item":      {`{"alerts":[{` + many(20_000, "m") + `}]}`, wire.MaxFaults},
		"items that lack all":     {`{"alerts":[` + strings.Repeat(`{},`, 100_000) + `{}]}`, wire.MaxFaults},
		"items of another type":   {`{"alerts":[` + strings.Repeat(`null,`, 100_000) + `null]}`, wire.MaxFaults},
		"one in each of the most": {`{"alerts":[` + strings.Repeat(`0,`, wire.MaxFaults-2) + `0]}`, wire.MaxFaults - 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value, p := contract.ParseJSON([]byte(test.body))
			if p != nil {
				t.Fatal(p)
			}
			found := contract.Visit(alerts, value)
			if len(found) != test.want {
				t.Errorf("%d faults are named, want %d", len(found), test.want)
			}
			places := make(map[string]bool)
			for _, f := range found {
				places[f.Pointer] = true
			}
			if len(places) != len(found) {
				t.Errorf("%d faults are in %d places", len(found), len(places))
			}
		})
	}
}
