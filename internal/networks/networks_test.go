package networks_test

import (
	"net/netip"
	"testing"

	"muster/internal/networks"
)

// TestWhereChannelsLead by default: to the Internet, however an address is written.
func TestWhereChannelsLead(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct{ reachable, public bool }{
		"93.184.216.34": {true, true}, "2606:2800:220:1::1": {true, true}, "64:ff9b::5db8:d822": {true, true},
		"127.0.0.1": {true, false}, "::1": {true, false}, "::ffff:127.0.0.1": {true, false}, "64:ff9b::7f00:1": {true, false},
		"10.1.2.3": {true, false}, "172.16.0.1": {true, false}, "192.168.1.1": {true, false}, "fd00::1": {true, false}, "::ffff:10.0.0.1": {true, false},
		"100.64.0.1": {true, false}, "198.18.0.1": {true, false}, "255.255.255.255": {true, false}, "0.1.2.3": {true, false}, "2002:7f00:1::": {true, false}, "64:ff9b:1::a00:1": {true, false}, "fec0::1": {true, false},
		"169.254.169.254": {false, false}, "64:ff9b::a9fe:a9fe": {false, false}, "fe80::1%eth0": {false, false}, "224.0.0.1": {false, false}, "0.0.0.0": {false, false}, "::": {false, false},
	} {
		a := netip.MustParseAddr(address)
		if got := networks.Reachable(nil, a); got != want.reachable {
			t.Errorf("%s can be reached: %v", address, got)
		}
		if got := networks.Public(nil, a); got != want.public {
			t.Errorf("%s is public: %v", address, got)
		}
	}
	ours := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16")}
	for address, want := range map[string]bool{"127.0.0.1": true, "::ffff:127.0.0.1": true, "169.254.169.254": true, "93.184.216.34": false, "::1": false} {
		if got := networks.Public(ours, netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is in the networks that were set: %v", address, got)
		}
	}
}
