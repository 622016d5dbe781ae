// Package mailtest is a real mail server inside a test.
//
// It speaks SMTP with STARTTLS or implicit TLS under a certificate of its own,
// asks for a password where told to, and misbehaves on demand. What may go wrong
// is what a test asks for.
package mailtest
