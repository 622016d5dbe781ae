package fleet_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"muster/domain/fleet"
)

// spellings are hosts in all the forms in which programs write them; the first form is the key.
// C14.
var spellings = [][]string{
	{"db7.example.org", "DB7.Example.ORG", "db7.example.org.", "DB7.EXAMPLE.ORG.", "db7.example.org:9100", "DB7.Example.ORG:9100", "db7.example.org.:9100",
		"http://db7.example.org:9187/metrics", "https://user:secret@DB7.example.org/metrics?x=1", "db7.example.org:9187/metrics", "postgres://u@db7.example.org:5432/shop", "db7.example.org:"},
	{"2001:db8::1", "[2001:db8::1]", "[2001:DB8::1]:9100", "2001:0db8:0:0:0:0:0:1", "[2001:0db8:0000:0000:0000:0000:0000:0001]:9100", "2001:DB8::0001", "http://[2001:db8::1]:9187/metrics"},
	{"192.0.2.7", "192.0.2.7:9100", "::ffff:192.0.2.7", "[::ffff:192.0.2.7]:9100", "::FFFF:C000:0207", "0:0:0:0:0:ffff:192.0.2.7", "http://192.0.2.7/"},
	{"fe80::1", "fe80::1%eth0", "[fe80::1%25eth0]:9100", "FE80::1%en0"},
	{"sql01", "SQL01", `SQL01\INST`, "sql01:1433", "SQL01,1433", `SQL01\INST,1433`, `sql01\inst:9182`},
	{"64:ff9b::c000:221", "64:ff9b::192.0.2.33"},
	{"::1", "[::1]:9100", "0:0:0:0:0:0:0:1"},
	{"1::", "1:0:0:0:0:0:0:0"},
	{"münchen.example", "xn--mnchen-3ya.example", "München.Example:9100", "XN--MNCHEN-3YA.example."},
	{"my_host", "MY_HOST:1"},
}

func TestHostKey(t *testing.T) {
	t.Parallel()
	for _, same := range spellings {
		for _, host := range same {
			if got := fleet.HostKey(fleet.HostOf(host)); got != same[0] {
				t.Errorf("%s: %s, not %s", host, got, same[0])
			}
		}
	}
	for _, text := range []string{"", ":9100", "http://", "http:///metrics", "[", "[]:1"} {
		if got := fleet.HostOf(text); got != "" {
			t.Errorf("%q is the host %q", text, got)
		}
	}
}

// TestHosts: an instance is found by every spelling of its host, whichever it was registered
// with, and by none of another. C14.
func TestHosts(t *testing.T) {
	t.Parallel()
	for n, same := range spellings {
		for _, registered := range same {
			var h fleet.Hosts
			id, other := uuid.New(), uuid.New()
			if fleet.HostOf(registered) != registered && fleet.WithoutPort(registered) != fleet.HostOf(registered) {
				continue // a URL is never registered
			}
			h.Add(fleet.WithoutPort(registered), id)
			h.Add("other.example.net", other)
			for _, asked := range same {
				if found := h.Find(asked); !slices.Equal(found, []uuid.UUID{id}) {
					t.Errorf("%s does not find %s", asked, registered)
				}
			}
			for m, others := range spellings {
				if m != n && len(h.Find(others[0])) > 0 {
					t.Errorf("%s finds %s", others[0], registered)
				}
			}
		}
	}
}

// TestShortAndFullNames are one host where nothing else begins with that label. C14.
func TestShortAndFullNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		registered []string
		asked      string
		found      int // places in registered + 1, 0: none
	}{
		"short for full":                    {[]string{"db7.example.org"}, "DB7:9100", 1},
		"full for short":                    {[]string{"db7"}, "db7.example.org.", 1},
		"two full ones begin with it":       {[]string{"db7.example.org", "db7.example.net"}, "db7", 0},
		"another full one than registered":  {[]string{"db7.example.org"}, "db7.example.net", 0},
		"the short one may be another's":    {[]string{"db7", "db7.example.net"}, "db7.example.org", 0},
		"an address has no labels":          {[]string{"10.0.0.1"}, "10", 0},
		"and is none":                       {[]string{"10"}, "10.0.0.1", 0},
		"the one that is called so exactly": {[]string{"db7.example.org", "db7"}, "db7", 0}, // Find's
	} {
		var h fleet.Hosts
		var ids []uuid.UUID
		for _, host := range c.registered {
			ids = append(ids, uuid.New())
			h.Add(host, ids[len(ids)-1])
		}
		found := h.FindNear(c.asked)
		if c.found == 0 && len(found) > 0 || c.found > 0 && !slices.Equal(found, ids[c.found-1:c.found]) {
			t.Errorf("%s: %d found", name, len(found))
		}
	}
}
