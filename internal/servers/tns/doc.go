// Package tns reads what clients of Oracle keep in the files of their network configuration: connect descriptors of
// tnsnames.ora and wallets. Here both stand in a connection string, so nothing is read from the machine.
//
// A descriptor is (DESCRIPTION=(ADDRESS=…)(CONNECT_DATA=…)). Its addresses, protocol, service, SID and instance are
// taken over, and how a client waits and tries again is passed over. What is not known is refused, because it may lead
// elsewhere or name a file. A wallet is a client certificate with its key and the certificates of authorities, as PEM
// in base64.
//
// Errors are sentences for people that begin with "it" or "its": the connection string. They repeat names of Oracle's
// only, because any part of a malformed string may be a password.
//
// What may go wrong:
//
//   - A descriptor demands a certificate of a distinguished name (SSL_SERVER_CERT_DN): the certificate is verified by
//     the name of its host instead.
//   - A wallet's key has a password, or the wallet is a cwallet.sso: it is refused, and the error says how to convert it.
package tns
