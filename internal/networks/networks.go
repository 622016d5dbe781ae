package networks

import (
	"net/netip"
	"slices"
)

// nat64 is where a translator puts the whole of IPv4 (RFC 6052, section 2.1).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// carriers hold an address of IPv4 in one of IPv6, which begins at a byte of it.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{nat64, 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // a translator of one's own (RFC 8215), in its usual form
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // stateless translation (RFC 2765)
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible (RFC 4291, section 2.5.5.1)
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4 (RFC 3056)
}

// unicast is all of IPv6 that IANA gives out for the Internet.
var unicast = netip.MustParsePrefix("2000::/3")

// notPublic are the blocks of IANA's registries of special-purpose addresses that are not
// globally reachable, without those that netip knows as private, loopback and link-local,
// and without those of IPv6 outside of unicast. Two are refused as a whole although
// addresses of protocols in them are reachable: no receiver has such an address.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"), // addresses of protocols
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"), // addresses of protocols, Teredo among them
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

// Reachable says whether an address is in one of the networks; where there are none, whether
// it is neither link-local nor multicast nor unspecified.
func Reachable(networks []netip.Prefix, a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if len(networks) > 0 {
		return within(networks, a)
	}
	a = carried(a)
	return a.IsValid() && !a.IsUnspecified() && !a.IsLinkLocalUnicast() && !a.IsMulticast()
}

// Public is Reachable, but where there are no networks only addresses of the Internet are
// public: neither loopback, nor private, nor otherwise special.
func Public(networks []netip.Prefix, a netip.Addr) bool {
	if len(networks) > 0 || !Reachable(nil, a) {
		return Reachable(networks, a)
	}
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		a = carried(a)
	}
	return (a.Is4() || unicast.Contains(a)) && !a.IsLoopback() && !a.IsPrivate() && !within(notPublic, a)
}

func within(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// carried is the address of IPv4 that one of IPv6 leads to.
func carried(a netip.Addr) netip.Addr {
	if a.IsLoopback() || a.IsUnspecified() { // these are in ::/96
		return a
	}
	for _, c := range carriers {
		if c.prefix.Contains(a) {
			bytes := a.As16()
			return netip.AddrFrom4([4]byte(bytes[c.at : c.at+4]))
		}
	}
	return a
}
