// Package oidc signs people in with an identity provider over OpenID Connect: the authorization
// code flow with PKCE (S256), state and nonce.
//
// An installation has one provider, from the settings. Start creates a flow and returns the
// address for the browser. Finish takes what the browser brings back, exchanges the code and
// verifies the ID token (signature, issuer, audience and authorized party, expiry, nonce, hash
// of the access token). It returns the identity that the provider asserts. Package commands
// decides whether that person has an account.
//
// The browser keeps the secrets of a flow (state, nonce, code verifier) and its destination in
// one cookie, sealed under the installation's secret key. So another process can finish a flow
// than the one that started it, and an unfinished flow leaves nothing behind. The cookie belongs
// to one browser; another browser has the wrong state.
//
// A provider is discovered when it is first needed and again after an hour, by one request at a
// time with a time limit. Its signing keys are fetched when a token names an unknown one.
// Answers of a provider are read up to a limit, and redirects of its endpoints are not followed:
// the client secret goes only to the endpoint that was discovered.
//
// What may go wrong, and what then happens:
//
//   - The provider is down, slow or something else altogether: serve still starts. A person who
//     signs in gets an error after five seconds at most (ReasonUnavailable); for the next five
//     seconds, others get it at once. If the provider was reached before, the earlier discovery
//     stays in use.
//   - The provider changes its signing keys: the next token names an unknown key, and the keys
//     are fetched again.
//   - The provider's key set has keys that cannot be used here, of an unknown type or curve,
//     broken, or for encryption: they are skipped.
//   - The secret key is retired meanwhile, the flow is older than ten minutes, or the browser
//     keeps no cookies: no flow can be finished, and the person is asked to start again
//     (ReasonExpired).
//   - Somebody sends a person to a callback of another flow: the state differs (ReasonMismatch).
//     The flow stays as it is, so the tab in which it began can still finish it. If it began in
//     two tabs, only the later one can.
//   - A callback comes twice: the code is used up, and the provider refuses the second
//     (ReasonCode).
//   - A process dies between the exchange and the answer: the code is used up and nobody is
//     signed in. The person starts again, and the provider recognizes them.
//   - A token is forged, meant for another client, too old, or signed with "none" or the client
//     secret: ReasonToken. Only the asymmetric algorithms that the provider announces are
//     accepted, and RS256 if it announces none.
//   - Clocks differ: a token may have expired a minute ago, and may become valid four minutes
//     from now.
package oidc
