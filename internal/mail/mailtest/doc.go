// Package mailtest is a real mail server inside a test.
//
// It speaks SMTP with STARTTLS or implicit TLS under its own certificate, asks for a password if
// told to, and fails on demand. It only fails in the ways that a test requests.
package mailtest
