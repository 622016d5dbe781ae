// Package networks judges addresses before Muster connects to them for somebody who asks.
//
// An address is judged by what it leads to: one of IPv4 that is written as one of IPv6,
// also behind a translator (NAT64), counts as what it is, and a zone changes nothing.
// Names are not judged: whoever dials judges the very address that is dialled, so that a
// name that changes its meaning between two look-ups leads nowhere else.
package networks
