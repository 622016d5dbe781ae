package evidence

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/domain/organization"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/assessment/catalogue"
	"muster/internal/postgres/statement"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/pades"
	"muster/internal/proof/signing"
	"muster/internal/report/control"
)

// Maker makes evidence of controls.
type Maker struct {
	DB          *sqlx.DB
	Controls    *control.Reader
	Accounts    *accounts.Store
	Checks      *catalogue.Catalogue
	Checkpoints *checkpoint.Maker
	Signing     *signing.Signing
	// Stamp has a digest time-stamped (RFC 3161); nil: no service is set.
	Stamp func(ctx context.Context, digest []byte) (token []byte, err error)
	Log   *slog.Logger
}

// Made is evidence that was made and recorded.
type Made struct {
	Document Document
	Signed   Signed
	Text     []byte // Signed as it is handed on
}

// Make makes evidence, signs it, and has it recorded before it hands it out. Errors:
// *RefusedError; those of record, *ClockError, and those of checkpoint.Maker, which signs no log that was changed.
func (m *Maker) Make(ctx context.Context, r Request, record func(context.Context, uuid.UUID, organization.EvidenceMade) error) (made Made, err error) {
	r = r.resolved()
	now, err := m.now(ctx)
	if err != nil {
		return made, err
	}
	q, err := m.question(ctx, r, now)
	if err != nil {
		return made, err
	}
	stamp := m.stamper()
	if made.Document, err = m.document(ctx, r, q, stamp); err != nil {
		return made, err
	}
	key, err := m.signer(ctx, now)
	if err != nil {
		return made, err
	}
	if made.Signed, err = Sign(made.Document, key); err != nil {
		return made, err
	}
	imprint := made.Signed.Imprint()
	made.Signed.Timestamp = stamp(ctx, "evidence", imprint[:])
	if made.Text, err = made.Signed.Encode(); err != nil {
		return made, err
	}
	d := made.Document
	return made, record(ctx, d.ID, organization.EvidenceMade{
		CheckID: d.Check.ID, From: d.From, To: d.To, AsOf: d.AsOf, Instances: len(r.Instances), SHA256: made.Signed.Digest(),
	})
}

// now is the database's clock, by which the logs record.
func (m *Maker) now(ctx context.Context) (time.Time, error) {
	now, err := statement.One[time.Time](ctx, m.DB, "read the database's clock", `SELECT clock_timestamp()`)
	return instant.Cut(now), err
}

// document reads all that the document names.
func (m *Maker) document(ctx context.Context, r Request, q control.Question, stamp stamper) (d Document, err error) {
	answer, err := m.Controls.Read(ctx, q)
	if err != nil {
		return d, err
	}
	check, _ := control.Find(m.Checks, q.Check)
	version := m.Checks.Identity()
	id, err := uuid.NewV7()
	if err != nil {
		return d, err
	}
	about := About{
		ID: id, Organization: Named{ID: r.Organization.ID, Name: r.Organization.Name}, Instances: r.Instances,
		Check: Control{ID: check.ID, Title: check.Title, Engine: check.Engine, Severity: check.Severity, Catalogue: version.Version, SHA256: version.Digest},
	}
	var people []uuid.UUID
	for _, item := range answer.Items {
		for _, e := range item.Events {
			if e.ByKind == control.ByMember {
				people = append(people, e.ByID)
			}
		}
	}
	for _, x := range answer.Exceptions {
		people = append(people, x.RequestedBy, x.GrantedBy)
		if x.RevokedBy != nil {
			people = append(people, *x.RevokedBy)
		}
	}
	if about.People, err = m.Accounts.Names(ctx, r.Organization.ID, people); err != nil {
		return d, err
	}
	if about.Checkpoints, err = m.checkpoints(ctx, stamp, answer.Organization, answer.Fleet); err != nil {
		return d, err
	}
	keys, err := m.Signing.Keys(ctx)
	about.Keys = keys.Fingerprint()
	return New(answer, about), err
}

// ClockError reports that all keys of the installation are later than the database's time.
// Evidence of now would be signed by a key that did not exist yet, and no verifier would accept
// it.
type ClockError struct{ Now time.Time }

func (e *ClockError) Error() string {
	return "no evidence is signed: the database's clock says " + e.Now.UTC().Format(time.RFC3339) +
		", and the installation's keys were made later; was it set back?"
}

// signer is the report key of evidence of now. Errors: *ClockError.
func (m *Maker) signer(ctx context.Context, now time.Time) (ed25519.PrivateKey, error) {
	key, ok, err := m.Signing.ReportSigner(ctx, now)
	if err == nil && !ok {
		err = &ClockError{now}
	}
	return key, err
}

// checkpoints are those that cover the heads of logs.
func (m *Maker) checkpoints(ctx context.Context, stamp stamper, heads ...eventstore.Head) (all []Checkpoint, err error) {
	for _, head := range heads {
		if head.Position == 0 { // an empty log has none
			continue
		}
		c, err := m.Checkpoints.Makes(ctx, head.Log, head.Position)
		if err != nil {
			return nil, err
		}
		if c.Timestamp == nil {
			tree, err := attest.ParseCheckpoint(c.Note)
			if err != nil {
				return nil, err
			}
			imprint := tree.Imprint()
			if c.Timestamp = stamp(ctx, "the checkpoint of log "+string(c.Log), imprint[:]); c.Timestamp != nil {
				if err := m.Checkpoints.KeepTimestamp(ctx, c.Log, c.Size, c.Timestamp); err != nil {
					return nil, err
				}
			}
		}
		all = append(all, Checkpoint{Log: string(c.Log), Size: c.Size, Note: c.Note, Timestamp: c.Timestamp})
	}
	return all, nil
}

// stampPatience is how long evidence waits for a time stamp. Evidence is handed out at once and
// stored nowhere, so a later time stamp cannot be added.
const stampPatience = 5 * time.Second

// stamper has a digest time-stamped; nil if no time stamp service is configured.
type stamper func(ctx context.Context, what string, digest []byte) []byte

// stamper is that of one piece of evidence, which waits once for a service that is away.
func (m *Maker) stamper() stamper {
	away := m.Stamp == nil
	return func(ctx context.Context, what string, digest []byte) []byte {
		if away {
			return nil
		}
		patient, cancel := context.WithTimeout(ctx, stampPatience)
		defer cancel()
		token, err := m.Stamp(patient, digest)
		if err != nil {
			away = true
			m.Log.WarnContext(ctx, "evidence is made without a time stamp", "of", what, "error", err)
			return nil
		}
		return token
	}
}

// PDF prints evidence and signs the print, with the signed JSON in it.
func (m *Maker) PDF(ctx context.Context, made Made, paper string) ([]byte, error) {
	var base bytes.Buffer
	if err := WritePDF(&base, made.Document, made.Signed, paper); err != nil {
		return nil, err
	}
	now, err := m.now(ctx)
	if err != nil {
		return nil, err
	}
	certificate, err := m.Signing.PDFSigner()
	if err != nil {
		return nil, err
	}
	update := pades.Update{Attachment: made.Text, Key: certificate.Signer, Chain: certificate.Chain, At: now}
	if made.Signed.Timestamp != nil { // the service is there
		update.Stamp = m.Stamp
		patient, cancel := context.WithTimeout(ctx, stampPatience)
		defer cancel()
		signed, err := pades.Sign(patient, base.Bytes(), update)
		var away *pades.StampError
		if !errors.As(err, &away) {
			return signed, err
		}
		m.Log.WarnContext(ctx, "a PDF is signed without a time stamp", "error", err)
		update.Stamp = nil
	}
	return pades.Sign(ctx, base.Bytes(), update)
}
