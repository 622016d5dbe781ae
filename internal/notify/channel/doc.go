// Package channel has the shared parts of all channel kinds: the form of a kind, the words of a
// message, and an HTTP client that posts only to allowed networks.
//
// # How it works
//
// A channel delivers notifications. Its kind is a value (Kind) in a folder of its own: email,
// webhook, chat, alertmanager and so on. The kind validates the settings of a channel, says
// which part of an address may be shown, and sends a delivery. kinds has the one list of them. A
// name that is not in the list is an error: no kind stands in for another.
//
// To add a kind, add its folder, its line in kinds.All, and its form on the page
// (web/src/notify/kinds). The tests of kinds and the compiler of the pages then name what is
// missing: the enum of openapi.yaml and the table in docs/administrators.md.
//
// Each kind escapes text from machines for its receiver: a chat message escapes markup, links
// and mentions; the JSON of a webhook has the text unchanged, as data.
//
// # What may go wrong
//
// The URL is not trusted. The dialer resolves its name and checks each address when it dials it
// (Control), so a name that points to another address a moment later (DNS rebinding) reaches
// nothing forbidden. Redirects are not followed, proxies of the environment are not used, and
// only the status line and headers of the answer are read.
//
// The URL may be a secret, and so may the address behind it: the sentence of an error contains
// neither, and no text of the receiver or of package net.
//
// The receiver accepts the connection and does not answer, or reads slowly: it has ten seconds,
// from the look-up to the headers of its answer. If it answered and Muster died before it
// recorded that, the next attempt has the same id.
//
// 410 Gone is final: the receiver wants no more notifications. Any other status that is not 2xx
// is tried again, unless the kind knows better.
package channel
