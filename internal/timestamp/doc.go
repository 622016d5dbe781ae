// Package timestamp gets RFC 3161 time stamps from an external service, and judges them. A
// holder of our database and keys can backdate a report, but cannot forge the service's
// signature.
//
// A token says that a digest was known at a time. Service.Stamp asks for one and checks
// it before it is kept; Verify judges one that comes with a file, under the roots that
// the caller trusts, at the token's own time: the certificate may have ended since.
// CMS and TSTInfo are read by github.com/digitorus/pkcs7 and timestamp, at the newest
// version that Go 1.26 builds; what RFC 3161 wants beyond a good signature (one signer
// that is bound by signing-certificate, a certificate for nothing but time stamps) is
// checked here.
//
// # A service keeps nobody waiting
//
// Stamp ends with its context, and after Patience at the latest. It follows no redirect
// and reads MaxSize bytes of an answer.
//
// What may go wrong:
//
//   - The service is away, hangs, answers 500 or HTML: *UnavailableError. The report is
//     Ready without; ask again later.
//   - It refuses: *RefusedError with its own words. To ask again is no use before somebody
//     has looked.
//   - It grants with modifications: taken, because all that we asked for is checked.
//   - It answers for another digest or another question, with a token that does not hold,
//     or without its certificate: *TokenError, and the token is not kept.
//   - Nobody says which authorities are trusted: Verify(…, nil) judges all but the chain,
//     and the caller says so. Anybody can make such a token.
//   - The authority lies, or its key is stolen. Revocation is not looked up: that needs a
//     network on the day of the check. Whoever has to know asks the authority.
//   - The service signs with RSA-PSS: pkcs7 does not verify it, and Stamp says so.
package timestamp
