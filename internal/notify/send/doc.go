// Package send posts what is told to webhooks, chats and Alertmanagers.
//
// # How it works
//
// A Poster posts bytes to a URL that somebody in an organization set, and says what came
// of it: the status code, or a sentence. Webhook, Chat and Alerts make the bytes. A
// webhook is signed as Standard Webhooks says: the id is the delivery's and stays at every
// attempt, time and signature are the attempt's.
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
// 2xx is tried again.
package send
