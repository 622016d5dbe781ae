package tns

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
)

// WalletHint says how to make a wallet that stands in a connection string.
const WalletHint = "Muster reads no wallet from files: give the client certificate as wallet=…, in the form that " +
	"openssl pkcs12 -in ewallet.p12 -nodes | base64 -w0 prints"

// Wallet is what a server asks of a client beside a password (mutual TLS), and by which the client knows it.
type Wallet struct {
	certificate tls.Certificate
	authorities []*x509.Certificate
}

// ReadWallet reads the certificate, key and authorities of a client, in PEM and that in base64. They stand in the
// connection string, which is kept encrypted: a file would be one of the machine that Muster runs on, and any
// organization could name it.
func ReadWallet(text string) (*Wallet, error) {
	plain := strings.NewReplacer("-", "+", "_", "/", " ", "+", "\n", "", "\r", "").Replace(strings.TrimRight(strings.TrimSpace(text), "="))
	content, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil || !bytes.Contains(content, []byte("-----BEGIN ")) {
		return nil, errors.New("its wallet is not PEM in base64; " + WalletHint)
	}
	w := &Wallet{}
	var others []*x509.Certificate
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "CERTIFICATE":
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, errors.New("its wallet has a certificate that cannot be read")
			}
			others = append(others, certificate)
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("the key in its wallet has a password; " + WalletHint)
		case "PRIVATE KEY":
			if w.certificate.PrivateKey, err = x509.ParsePKCS8PrivateKey(block.Bytes); err != nil {
				return nil, errors.New("its wallet has a key that cannot be read")
			}
		case "RSA PRIVATE KEY":
			if w.certificate.PrivateKey, err = x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
				return nil, errors.New("its wallet has a key that cannot be read, or that has a password; " + WalletHint)
			}
		}
	}
	return w, w.sort(others)
}

// sort tells the client's own certificate from those of authorities, which a wallet has in any order.
func (w *Wallet) sort(certificates []*x509.Certificate) error {
	signer, ok := w.certificate.PrivateKey.(crypto.Signer)
	if !ok {
		return errors.New("its wallet has no private key; " + WalletHint)
	}
	own := signer.Public().(interface{ Equal(crypto.PublicKey) bool }) // as every key of the standard library is
	for _, c := range certificates {
		if own.Equal(c.PublicKey) && w.certificate.Leaf == nil {
			w.certificate.Leaf, w.certificate.Certificate = c, [][]byte{c.Raw}
		} else {
			w.authorities = append(w.authorities, c)
		}
	}
	if w.certificate.Leaf == nil {
		return errors.New("its wallet has no certificate of its private key; " + WalletHint)
	}
	for issuer := w.certificate.Leaf; ; { // the chain to the root, which the server has
		next := w.issuerOf(issuer)
		if next == nil || bytes.Equal(next.RawIssuer, next.RawSubject) {
			return nil
		}
		w.certificate.Certificate = append(w.certificate.Certificate, next.Raw)
		if issuer = next; len(w.certificate.Certificate) > len(certificates) {
			return nil
		}
	}
}

func (w *Wallet) issuerOf(c *x509.Certificate) *x509.Certificate {
	for _, a := range w.authorities {
		if bytes.Equal(a.RawSubject, c.RawIssuer) && c.CheckSignatureFrom(a) == nil {
			return a
		}
	}
	return nil
}

// Secure has a connection use the wallet. Its authorities vouch for the server beside those of the machine.
func (w *Wallet) Secure(config *tls.Config) {
	if w == nil {
		return
	}
	config.Certificates = []tls.Certificate{w.certificate}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if config.RootCAs != nil {
		pool = config.RootCAs.Clone()
	}
	for _, a := range w.authorities {
		pool.AddCert(a)
	}
	config.RootCAs = pool
}
