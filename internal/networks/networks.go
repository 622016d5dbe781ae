package networks

import (
	"net/netip"
	"slices"
)

// nat64 is where a translator puts the whole of IPv4 (RFC 6052, section 2.1).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// notPublic are not the Internet, beside what netip calls private, loopback and
// link-local: "this network", addresses behind a carrier, and what is reserved or for
// documents and benchmarks (RFC 6890).
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"), // Teredo and 6to4 lead to IPv4, too
	netip.MustParsePrefix("64:ff9b:1::/48"), // so do translators of one's own (RFC 8215)
	netip.MustParsePrefix("fec0::/10"),      // what was private before fc00::/7 (RFC 3879)
}

// Reachable says whether an address is in one of the networks; where there are none, whether
// it is neither link-local nor multicast nor unspecified.
func Reachable(networks []netip.Prefix, a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if len(networks) > 0 {
		return within(networks, a)
	}
	a = translated(a)
	return a.IsValid() && !a.IsUnspecified() && !a.IsLinkLocalUnicast() && !a.IsMulticast()
}

// Public is Reachable, but where there are no networks loopback and private addresses
// are none either.
func Public(networks []netip.Prefix, a netip.Addr) bool {
	if len(networks) > 0 || !Reachable(nil, a) {
		return Reachable(networks, a)
	}
	a = translated(a.Unmap().WithZone(""))
	return !a.IsLoopback() && !a.IsPrivate() && !within(notPublic, a)
}

func within(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// translated is the address of IPv4 that a translator makes of one of IPv6.
func translated(a netip.Addr) netip.Addr {
	if !nat64.Contains(a) {
		return a
	}
	bytes := a.As16()
	return netip.AddrFrom4([4]byte(bytes[12:]))
}
