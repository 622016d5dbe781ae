package main

import (
	"context"
	"path/filepath"
	"time"

	"muster/internal/proof"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/timestamp"
)

// newProofs is what makes, keeps and finds the proofs of reports.
func (in *installation) newProofs() *proof.Maker {
	maker := &proof.Maker{
		DB: in.db, Prover: &proof.Prover{Events: in.events, Reports: in.history},
		Checkpoints: in.checkpoints, Signing: in.signing, Log: in.log,
	}
	if in.cfg.TSAURL != "" {
		maker.Stamp = timestamp.Service{URL: in.cfg.TSAURL}.Stamp
	}
	return maker
}

// newCheckpoints is what signs the logs, and knows what was signed of them.
func (in *installation) newCheckpoints() *checkpoint.Maker {
	maker := checkpoint.New(in.db, in.signing)
	maker.Proofs = proof.Signed(in.db)
	maker.Beside = checkpoint.Beside{Dirs: []string{filepath.Dir(in.cfg.SecretKeyFile), in.cfg.DataDir}, Name: filepath.Base(in.cfg.SecretKeyFile)}
	return maker
}

// stampEvery is how often time stamps are asked for that did not come at once.
const stampEvery = time.Minute

func (in *installation) stampProofs(ctx context.Context) error {
	stamped, err := in.proofs.StampAll(ctx)
	if stamped > 0 {
		in.log.InfoContext(ctx, "time stamps that were waited for have come", "proofs", stamped)
	}
	return err
}
