package proof

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/internal/proof/attest"
)

var (
	//go:embed sql/kept.sql
	selectKept string
	//go:embed sql/unstamped.sql
	selectUnstamped string
)

// kept is a proof in its current state, with the signatures that others have added to its
// checkpoint.
type kept struct {
	proof  attest.Proof
	signed string // SHA-256 of the PDF with its second revision, in hex; empty: there is none
}

// Kept returns the proof of a report with later additions; !ok: there is none (yet).
func (m *Maker) Kept(ctx context.Context, organization, id uuid.UUID) (p attest.Proof, ok bool, err error) {
	k, ok, err := m.kept(ctx, organization, id)
	return k.proof, ok, err
}

func (m *Maker) kept(ctx context.Context, organization, id uuid.UUID) (k kept, ok bool, err error) {
	type row struct {
		Proof           []byte  `db:"proof"`
		Token           []byte  `db:"timestamp_token"`
		Signed          *string `db:"signed_sha256"`
		Note            *string `db:"note"`
		CheckpointToken []byte  `db:"checkpoint_token"`
	}
	found, ok, err := statement.Find[row](ctx, m.DB, fmt.Sprintf("read the proof of report %s", id), selectKept, organization, id)
	if err != nil || !ok {
		return k, false, err
	}
	if k.proof, err = attest.ParseKept(found.Proof); err != nil {
		return k, false, fmt.Errorf("read the proof of report %s: %w", id, err)
	}
	if found.Note != nil && strings.HasPrefix(*found.Note, k.proof.Checkpoint) { // witnesses sign below
		k.proof.Checkpoint = attest.CosignedBy(*found.Note, k.proof.Event.RecordedAt.Add(attest.Skew))
		k.proof.CheckpointTimestamp = found.CheckpointToken
	}
	if found.Token != nil {
		k.proof.Attestation.Timestamp = found.Token
	}
	if found.Signed != nil {
		k.signed = *found.Signed
	}
	return k, true, nil
}

// stampPatience is how long a report waits for the time stamps of its proof. What does not
// come by then follows (StampAll).
const stampPatience = 5 * time.Second

// Stamped is the stored proof of a report, with time stamps if the service returns them in
// time; late: it does not, so the caller need not ask for another one now. Errors: *FaultError
// if that proof does not match the log.
func (m *Maker) Stamped(ctx context.Context, says Vouched) (p attest.Proof, late bool, err error) {
	k, ok, err := m.proven(ctx, says)
	if err != nil || !ok || m.Stamp == nil {
		return k.proof, false, err
	}
	patient, cancel := context.WithTimeout(ctx, stampPatience)
	defer cancel()
	if err := m.stamp(patient, k.proof); err != nil {
		late = true
		m.Log.WarnContext(ctx, "a report is signed without a time stamp, which follows in its proof", "report", says.Report.ID, "error", err)
	}
	k, _, err = m.proven(ctx, says)
	return k.proof, late, err
}

// KeepSigned notes, in the transaction of report.Signed, which PDF carries the proof.
func KeepSigned(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID, sha256 string) error {
	return statement.Exec(ctx, tx, fmt.Sprintf("note the signed PDF of report %s", id),
		`UPDATE report_proofs SET signed_sha256 = $3 WHERE organization_id = $1 AND report_id = $2`, organization, id, sha256)
}

// FindSigned returns the report whose signed PDF has this SHA-256 (hex).
func FindSigned(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, sha256 string) (id uuid.UUID, ok bool, err error) {
	return statement.Find[uuid.UUID](ctx, q, "look for a signed PDF",
		`SELECT report_id FROM report_proofs WHERE organization_id = $1 AND signed_sha256 = $2`, organization, strings.ToLower(sha256))
}

// stampsAtOnce is how many proofs a round time-stamps.
const stampsAtOnce = 100

// StampAll time-stamps the attestations and checkpoints of proofs of the last day that have
// no time stamp yet, oldest first, and says how many it did. It ends at the first that the
// service refuses.
func (m *Maker) StampAll(ctx context.Context) (stamped int, err error) {
	if m.Stamp == nil {
		return 0, nil
	}
	type row struct {
		Organization uuid.UUID `db:"organization_id"`
		Report       uuid.UUID `db:"report_id"`
	}
	waiting, err := statement.All[row](ctx, m.DB, "look for proofs without a time stamp", selectUnstamped, stampsAtOnce, attest.Skew-time.Hour)
	if err != nil {
		return 0, err
	}
	for _, w := range waiting {
		k, ok, err := m.kept(ctx, w.Organization, w.Report)
		if err != nil || !ok {
			return stamped, err
		}
		if err := m.stamp(ctx, k.proof); err != nil {
			return stamped, err
		}
		stamped++
	}
	return stamped, nil
}

// stamp gets the time stamps that a proof lacks.
func (m *Maker) stamp(ctx context.Context, p attest.Proof) error {
	if p.Attestation.Timestamp == nil {
		imprint := p.Attestation.Imprint()
		token, err := m.Stamp(ctx, imprint[:])
		if err != nil {
			return err
		}
		err = statement.Exec(ctx, m.DB, fmt.Sprintf("keep the time stamp of report %s", p.Report.ID), `UPDATE report_proofs SET timestamp_token = $3
			WHERE organization_id = $1 AND report_id = $2 AND timestamp_token IS NULL`, p.Report.Organization, p.Report.ID, token)
		if err != nil {
			return err
		}
	}
	if p.CheckpointTimestamp != nil {
		return nil
	}
	of, err := p.Tree()
	if err != nil {
		return err
	}
	imprint := of.Imprint()
	token, err := m.Stamp(ctx, imprint[:])
	if err != nil {
		return err
	}
	return m.Checkpoints.KeepTimestamp(ctx, eventstore.Log(p.Event.Log), of.Size, token)
}
