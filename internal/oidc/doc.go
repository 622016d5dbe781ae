// Package oidc signs people in with an identity provider over OpenID Connect:
// the authorization code flow with PKCE (S256), state and nonce.
//
// There is one provider to an installation, from the settings. Start makes a
// flow and says where the browser goes; Finish takes what the browser brings
// back, exchanges the code and verifies the ID token (signature, issuer,
// audience and authorized party, expiry, nonce, hash of the access token), and
// returns who the provider says it is. Whether that person has an account here
// is not decided here but in package commands.
//
// The secrets of a flow (state, nonce, code verifier) and where it leads are
// kept by the browser, in one cookie that is sealed under the installation's
// secret key: the process that finishes a flow need not be the one that started
// it, and a flow that nobody finishes leaves nothing behind. It is the cookie of
// one browser; what another brings back has the wrong state.
//
// A provider is discovered when it is first needed and again after an hour, by
// one request at a time with a time limit; its signing keys are fetched when a
// token names an unknown one. What a provider answers is read up to a limit, and
// redirects of its endpoints are not followed: the client secret goes nowhere
// but to the endpoint that was discovered.
//
// What may go wrong, and what then happens:
//
//   - The provider is down, slow or something else altogether: serve starts all
//     the same. Whoever signs in is told after five seconds at most
//     (ReasonUnavailable); for the next five the others are told at once. Where
//     it was reached before, what was discovered then goes on being used.
//   - The provider changes its signing keys: the next token names a key that is
//     not known, and the keys are fetched again.
//   - The provider's key set holds keys that cannot be used here, of an unknown type
//     or curve, broken, or for encryption: they are passed over.
//   - The secret key is retired meanwhile, the flow is older than ten minutes,
//     or the browser keeps no cookies: there is no flow that can be finished,
//     and the person is asked to start again (ReasonExpired).
//   - Somebody sends a person to a callback that is not theirs: the state is
//     another (ReasonMismatch). The flow stays as it is, so that the tab in which
//     it was begun can still finish it. Of two tabs in which it was begun, the
//     later one can.
//   - A callback comes twice: the code is used up, and the provider refuses the
//     second (ReasonCode).
//   - A process dies between the exchange and the answer: the code is used up
//     and nobody is signed in. They start again, and the provider knows them.
//   - A token is forged, meant for somebody else, too old, or signed with "none"
//     or the client secret: ReasonToken. Only the asymmetric algorithms that the
//     provider announces are taken, RS256 where it announces none.
//   - Clocks differ: a token may have expired a minute ago, and become
//     valid four minutes from now.
package oidc
