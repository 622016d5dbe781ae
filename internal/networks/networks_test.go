package networks_test

import (
	"encoding/csv"
	"net/netip"
	"os"
	"testing"

	"muster/internal/networks"
)

// TestAddressesThatChannelsMayReach by default: the Internet, however an address is written.
func TestAddressesThatChannelsMayReach(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct{ reachable, public bool }{
		"93.184.216.34": {true, true}, "2606:2800:220:1::1": {true, true}, "64:ff9b::5db8:d822": {true, true},
		"127.0.0.1": {true, false}, "::1": {true, false}, "::ffff:127.0.0.1": {true, false}, "64:ff9b::7f00:1": {true, false},
		"10.1.2.3": {true, false}, "172.16.0.1": {true, false}, "192.168.1.1": {true, false}, "fd00::1": {true, false}, "::ffff:10.0.0.1": {true, false},
		"100.64.0.1": {true, false}, "198.18.0.1": {true, false}, "255.255.255.255": {true, false}, "0.1.2.3": {true, false}, "2002:7f00:1::": {true, false}, "64:ff9b:1::a00:1": {true, false}, "fec0::1": {true, false},
		"::7f00:1": {true, false}, "::a00:1": {true, false}, "::5db8:d822": {true, false}, "::ffff:0:127.0.0.1": {true, false}, "64:ff9b:1::5db8:d822": {true, false}, "4000::1": {true, false}, "3ffe::1": {true, true}, "64:ff9b::c000:201": {true, false},
		"169.254.169.254": {false, false}, "64:ff9b::a9fe:a9fe": {false, false}, "fe80::1%eth0": {false, false}, "64:ff9b:1::a9fe:a9fe": {false, false}, "2002:a9fe:a9fe::1": {false, false}, "::ffff:0:169.254.169.254": {false, false}, "::a9fe:a9fe": {false, false}, "224.0.0.1": {false, false}, "0.0.0.0": {false, false}, "::": {false, false},
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

// TestNoSpecialPurposeAddressIsPublic compares the default of channels with IANA's registries
// of special-purpose addresses (both as of 2026-07-18): addresses that they do not call
// globally reachable are not public. ::ffff:0:0/96 and 64:ff9b::/96 are not in the file,
// because the IPv4 address in them decides.
func TestNoSpecialPurposeAddressIsPublic(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/special-purpose-addresses.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	protocols := []netip.Prefix{netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("2001::/23")} // no web server has these
	for _, row := range rows[1:] {
		block := netip.MustParsePrefix(row[0])
		reachable := row[2] == "True"
		for _, a := range []netip.Addr{block.Addr(), last(block)} {
			want := reachable && !protocols[0].Contains(a) && !protocols[1].Contains(a)
			if got := networks.Public(nil, a); got != want {
				t.Errorf("%s (%s, %s) is public: %v", a, row[0], row[1], got)
			}
		}
	}
	if len(rows) < 45 {
		t.Errorf("the registries have only %d rows", len(rows))
	}
}

// last is the highest address of a block.
func last(block netip.Prefix) netip.Addr {
	bytes := block.Addr().AsSlice()
	for bit := block.Bits(); bit < 8*len(bytes); bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(bytes)
	return a
}
