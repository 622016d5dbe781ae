package signing

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/mod/sumdb/note"

	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/internal/proof/attest"
	"muster/internal/secrets"
)

// Signing is what an installation signs with.
type Signing struct {
	db           *sqlx.DB
	installation string
	ring         *secrets.Ring
	own          *Certificate // for PDFs; nil: those of the ring
	dirs         []string     // in which LastFile may lie

	published atomic.Pointer[publishedDocument]
}

// LastFile is the file in a directory that has the last checkpoint that was signed of a log
// (checkpoint.Beside). key is the secret key's file, beside which it lies where that can be.
func LastFile(dir, key string, log eventstore.Log) string {
	return filepath.Join(dir, filepath.Base(key)+".signed-"+string(log))
}

// Open reads the installation's id. own may be nil. dirs are directories, other than the secret
// key's, in which a LastFile may lie.
func Open(ctx context.Context, db *sqlx.DB, ring *secrets.Ring, own *Certificate, dirs ...string) (*Signing, error) {
	id, err := statement.One[string](ctx, db, "read the installation's id", `SELECT fingerprint FROM installation WHERE name = 'id'`)
	if err != nil {
		return nil, err
	}
	return &Signing{db: db, installation: id, ring: ring, own: own, dirs: append([]string{filepath.Dir(ring.Path())}, dirs...)}, nil
}

// Ring is the secret keys, whose marks say what the program wrote.
func (s *Signing) Ring() *secrets.Ring { return s.ring }

// Installation is the installation's id.
func (s *Signing) Installation() string { return s.installation }

// Origin is a log's name in checkpoints.
func (s *Signing) Origin(log eventstore.Log) string {
	return attest.Origin(s.installation, string(log))
}

// LogSigners sign checkpoints of a log, the current key's first.
func (s *Signing) LogSigners(log eventstore.Log) ([]note.Signer, error) {
	var all []note.Signer
	for _, secret := range s.ring.Signers() {
		signer, err := logSigner(s.Origin(log), secret)
		if err != nil {
			return nil, err
		}
		all = append(all, signer)
	}
	return all, nil
}

func logSigner(origin string, secret ed25519.PrivateKey) (note.Signer, error) {
	public, _ := secret.Public().(ed25519.PublicKey)
	verifier, err := note.NewEd25519VerifierKey(origin, public)
	if err != nil {
		return nil, fmt.Errorf("name the key of %s: %w", origin, err)
	}
	const ed25519Seed = 1 // the form of C2SP's signed notes
	hash := strings.Split(verifier, "+")[1]
	key := base64.StdEncoding.EncodeToString(append([]byte{ed25519Seed}, secret.Seed()...))
	signer, err := note.NewSigner("PRIVATE+KEY+" + origin + "+" + hash + "+" + key)
	if err != nil {
		return nil, fmt.Errorf("set up the key of %s: %w", origin, err)
	}
	return signer, nil
}

// Verifiers check what LogSigners sign.
func (s *Signing) Verifiers(log eventstore.Log) (note.Verifiers, error) {
	var all []note.Verifier
	for _, secret := range s.ring.Signers() {
		public, _ := secret.Public().(ed25519.PublicKey)
		text, err := note.NewEd25519VerifierKey(s.Origin(log), public)
		if err != nil {
			return nil, fmt.Errorf("name the key of %s: %w", s.Origin(log), err)
		}
		verifier, err := note.NewVerifier(text)
		if err != nil {
			return nil, fmt.Errorf("read the key of %s: %w", s.Origin(log), err)
		}
		all = append(all, verifier)
	}
	return note.VerifierList(all...), nil
}

// ReportSigner signs a report that was recorded at a time: with the current key, or if that is
// younger, with the newest old one that is not. !ok: they are all younger, because the keys
// were changed and the old ones retired since; it is then the current one.
func (s *Signing) ReportSigner(ctx context.Context, recorded time.Time) (key ed25519.PrivateKey, ok bool, err error) {
	document, err := s.Keys(ctx)
	if err != nil {
		return nil, false, err
	}
	published := document.Of(attest.UseReport)
	for _, secret := range s.ring.Keys() {
		of, err := reportKey(secret)
		if err != nil {
			return nil, false, err
		}
		i := slices.IndexFunc(published, func(k attest.Key) bool { return k.ID == of.ID })
		if i < 0 || published[i].RevokedAt != nil {
			continue
		}
		if state, _ := published[i].Lived(recorded, recorded, 0); state == attest.Held {
			return secret.ReportSigner(), true, nil
		}
	}
	return s.ring.ReportSigner(), false, nil
}

// reportKey is the public key by which what a secret key says of reports is checked.
func reportKey(secret *secrets.Key) (attest.Key, error) {
	public, _ := secret.ReportSigner().Public().(ed25519.PublicKey)
	return attest.ReportKey(public, time.Time{})
}

// PDFSigner signs PDFs: the operator's certificate, else the current key's own. Errors:
// *CertificateError where the operator's has ended since.
func (s *Signing) PDFSigner() (*Certificate, error) {
	if s.own != nil {
		if reason := unfit(s.own.Chain[0], s.own.now()); reason != "" {
			return nil, &CertificateError{CertFile: s.own.certFile, KeyFile: s.own.keyFile, Reason: reason}
		}
		return s.own, nil
	}
	return s.derived(s.ring.Current())
}

func (s *Signing) derived(key *secrets.Key) (*Certificate, error) {
	signer, err := key.PDFSigner()
	if err != nil {
		return nil, err
	}
	der, err := key.PDFCertificate(s.installation)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate for PDFs: %w", err)
	}
	return &Certificate{Signer: signer, Chain: []*x509.Certificate{certificate}}, nil
}

// published is a key with the fingerprint of the secret key that it comes from; empty:
// the operator's.
type published struct {
	attest.Key
	fingerprint string
}

// current are all keys that may sign now, from the key file and the operator alone.
func (s *Signing) current() (all []published, err error) {
	add := func(key attest.Key, from *secrets.Key) { all = append(all, published{key, from.Fingerprint()}) }
	for _, secret := range s.ring.Keys() {
		for _, log := range eventstore.Logs {
			key, err := attest.LogKey(s.Origin(log), secret.PublicKey(), time.Time{})
			if err != nil {
				return nil, err
			}
			add(key, secret)
		}
		key, err := reportKey(secret)
		if err != nil {
			return nil, err
		}
		add(key, secret)
		pdf, err := s.derived(secret)
		if err != nil {
			return nil, err
		}
		add(attest.PDFKey(pdf.Chain, time.Time{}), secret)
	}
	if s.own != nil {
		all = append(all, published{Key: attest.PDFKey(s.own.Chain, time.Time{})})
	}
	return all, nil
}
