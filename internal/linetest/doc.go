// Package linetest is a line between two processes that a test can cut, hold and slow down.
//
// A Line takes connections on a port of its own and joins each to the process behind it.
// Links, delays and rates are those of Shopify's toxiproxy, which is used as a library and
// only by tests. Connections are ours, because toxiproxy closes them in good order, which
// no cut cable does: Cut resets them.
//
// A line is in one state at a time. HalfOpen is the one that toxiproxy has no word for: it
// would throw away what is under way and tell the other end when one end leaves. Here
// nothing passes, neither bytes nor an end, and Heal lets pass what was held up, as TCP
// does with a link that is mended before either end gives up.
//
// What may go wrong: a link with something left that nobody takes would make toxiproxy
// wait for ever when its delays change. So what cannot be written any more is thrown away,
// and the gate of HalfOpen is opened before delays change. Slow, Trickle and Heal wait as
// long as an end that is joined reads nothing.
package linetest
