// Package networks decides whether Muster may connect to an address on a user's behalf.
//
// An address is judged by where it leads: an IPv4 address in an IPv6 address (mapped,
// compatible, translated, NAT64, 6to4) counts as that IPv4 address, and a zone changes
// nothing. By default, only addresses that IANA's registries call globally reachable are
// public. testdata has the registries' rows.
// Names are not judged: whoever dials judges the very address that is dialled, so that a
// name that changes its meaning between two look-ups leads nowhere else.
package networks
