// Package timestamp gets RFC 3161 time stamps from an external service, and verifies them. A
// person who holds our database and keys can backdate a report, but cannot forge the service's
// signature.
//
// A token says that a digest was known at a time. Service.Stamp requests one and checks it
// before it is stored. Verify checks one that comes with a file, under the roots that the caller
// trusts, as of the token's own time, because the certificate may have expired since.
// github.com/digitorus/pkcs7 and timestamp read CMS and TSTInfo, at the newest version that Go
// 1.26 builds. This package checks what RFC 3161 requires beyond a good signature (one signer
// that is bound by signing-certificate, and a certificate for nothing but time stamps).
//
// # A service delays nobody
//
// Stamp ends with its context, and after Patience at the latest. It follows no redirect and
// reads MaxSize bytes of an answer.
//
// What may go wrong:
//
//   - The service is away, hangs, or answers 500 or HTML: *UnavailableError. The report is Ready
//     without a time stamp; ask again later.
//   - It refuses: *RefusedError with its own words. Asking again does not help before a person
//     has looked at it.
//   - It grants with modifications: the token is accepted, because everything that we asked for
//     is checked.
//   - It answers for another digest or another request, with an invalid token, or without its
//     certificate: *TokenError, and the token is not stored.
//   - The caller names no trusted authorities: Verify(…, nil) checks everything but the chain,
//     and the caller says so. Anybody can make such a token.
//   - The authority lies, or its key is stolen. Revocation is not looked up, because that needs
//     a network on the day of the check. A verifier who has to know asks the authority.
//   - The service signs with RSA-PSS: pkcs7 does not verify it, and Stamp says so.
package timestamp
