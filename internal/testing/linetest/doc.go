// Package linetest is a network line between two processes that a test can cut, hold and slow
// down.
//
// A Line accepts connections on a port of its own and connects each to the process behind it.
// Links, delays and rates are those of Shopify's toxiproxy, which is used as a library and only
// by tests. The connections are our own, because toxiproxy closes them properly, which a cut cable
// does not do: Cut resets them.
//
// A line is in one state at a time. toxiproxy has no equivalent of HalfOpen: it would discard
// data in transit, and tell the other end when one end leaves. Here nothing passes, neither
// bytes nor the end of a connection, and Heal lets the held data pass, as TCP does with a link
// that is repaired before either end gives up.
//
// What may go wrong: a link with data that nobody reads would make toxiproxy wait forever when
// its delays change. So data that can no longer be written is discarded, and the gate of
// HalfOpen is opened before delays change. Slow, Trickle and Heal wait as long as a connected
// end reads nothing.
package linetest
