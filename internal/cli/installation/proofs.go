package installation

import (
	"context"
	"path/filepath"
	"time"

	"muster/internal/proof"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/timestamp"
)

// newProofs is what makes, keeps and finds the proofs of reports.
func (in *Installation) newProofs() *proof.Maker {
	maker := &proof.Maker{
		DB: in.DB, Prover: &proof.Prover{Events: in.Events, Reports: in.History},
		Checkpoints: in.Checkpoints, Signing: in.Signing, Log: in.Log,
	}
	if in.Config.TSAURL != "" {
		maker.Stamp = timestamp.Service{URL: in.Config.TSAURL}.Stamp
	}
	return maker
}

// NewCheckpoints is what signs the logs, and knows what was signed of them.
func (in *Installation) NewCheckpoints() *checkpoint.Maker {
	maker := checkpoint.New(in.DB, in.Signing)
	maker.Proofs = proof.Signed(in.DB)
	maker.Beside = checkpoint.Beside{Dirs: []string{filepath.Dir(in.Config.SecretKeyFile), in.Config.DataDir}, Name: filepath.Base(in.Config.SecretKeyFile)}
	return maker
}

// StampEvery is how often time stamps are asked for that did not come at once.
const StampEvery = time.Minute

// StampProofs asks for the time stamps that did not come at once.
func (in *Installation) StampProofs(ctx context.Context) error {
	stamped, err := in.Proofs.StampAll(ctx)
	if stamped > 0 {
		in.Log.InfoContext(ctx, "time stamps that were waited for have come", "proofs", stamped)
	}
	return err
}
