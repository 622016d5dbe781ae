// Package channel has what all kinds of channels share: the shape of a kind, the words of a
// message, and the post that goes only to allowed networks.
//
// # How it works
//
// A channel is a way to notify somebody. Its kind is a value (Kind) in a folder of its own:
// email, webhook, chat, alertmanager and so on. The kind validates the settings of a channel, says which
// part of an address may be shown, and sends a delivery. kinds has the one list of them. A name
// that is not in the list is an error: no kind stands in for another.
//
// To add a kind, add its folder, its line in kinds.All, and its form on the page
// (web/src/notify/kinds). The tests of kinds and the compiler of the pages then name what is missing:
// the enum of openapi.yaml and the table in docs/administrators.md.
//
// Text from machines is written for each receiver by its kind: a chat's form escapes markup,
// links and mentions; a webhook's JSON has the text as it is, as data.
//
// # What may go wrong
//
// The URL is not trusted. A name is resolved by the dialer, which judges each address when
// it dials it (Control), so that a name that means another address a moment later
// (DNS rebinding) leads nowhere new. Redirects are not followed, proxies of the environment
// are not used, and of the answer only the status line and headers are read.
//
// The URL may be a secret, and so may what it leads to: an error's sentence has neither the
// URL nor an address, and no text of the receiver's or of the net package's.
//
// The receiver takes the connection and says nothing, or reads slowly: ten seconds from the look-up to
// the answer's headers are all it gets. It answered and we died before we noted it: the next
// attempt has the same id.
//
// 410 Gone is final: the receiver says that it wants no more of this. Anything else that is not
// 2xx is tried again, unless the kind knows better.
package channel
