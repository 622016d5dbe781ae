// Package networks decides whether Muster may connect to an address on a user's behalf.
//
// The decision is about the destination of an address: an IPv4 address in an IPv6 address
// (mapped, compatible, translated, NAT64, 6to4) counts as that IPv4 address, and a zone changes
// nothing. By default, only addresses that IANA's registries call globally reachable are public.
// testdata has the registries' rows. Names are not checked. The dialer checks the address that
// it dials, so a name that changes its meaning between two look-ups leads nowhere else.
package networks
