package installation

import (
	"context"
	"errors"
	"fmt"

	"muster/internal/files/blobs"
	"muster/internal/postgres"
	"muster/internal/secrets"
)

// openFiles opens the blob store and sees that it is the installation's, which a new one
// makes it. Where it does not answer, or has no room, serve starts all the same: whose it
// has to be is known, and looked at before anything is written.
func (in *Installation) openFiles(ctx context.Context, a Access) error {
	owner, err := secrets.Fingerprint(ctx, in.DB, secrets.BlobStore)
	if err != nil {
		return err
	}
	if in.Blobs, err = blobs.Open(ctx, in.Config.BlobURL); err != nil {
		return unusable("blob-url", err)
	}
	if owner == "" {
		if owner, err = in.claimFiles(ctx); err != nil {
			return unusable("blob-url", err)
		}
	}
	in.Blobs.Expect(owner)
	if !a.Exclusive { // commands read, most of them
		return in.Blobs.Recognize(ctx)
	}
	err = in.Blobs.Check(ctx)
	var away *blobs.UnavailableError
	var full *blobs.FullError
	if errors.As(err, &away) && away.Passing() || errors.As(err, &full) {
		in.Log.Warn("the blob store is away or full: reports wait, and all else goes on", "error", err)
		return nil
	}
	return unusable("blob-url", err)
}

// ClaimLock is the advisory lock of whoever gives a new installation its blob store:
// "muster", as that of migrations, and "st".
const ClaimLock = 0x6d75737465727374

// claimFiles makes the blob store the installation's, unless another process has given it
// one meanwhile, and returns which is: processes that are first at the same time, each with
// a store of its own, would otherwise all claim theirs.
func (in *Installation) claimFiles(ctx context.Context) (owner string, err error) {
	conn, err := in.DB.Connx(ctx)
	if err != nil {
		return "", fmt.Errorf("connect to claim the blob store: %w", err)
	}
	defer func() { _ = conn.Close() }()
	unlock, err := postgres.LockSession(ctx, conn, ClaimLock)
	if err != nil {
		return "", fmt.Errorf("claim the blob store: %w", err)
	}
	defer func() { _ = unlock(context.WithoutCancel(ctx)) }()
	if owner, err = secrets.Fingerprint(ctx, conn, secrets.BlobStore); err != nil || owner != "" {
		return owner, err
	}
	if owner, err = secrets.FirstStore(ctx, conn); err != nil {
		return "", err
	}
	if err := in.Blobs.Claim(ctx, owner); err != nil {
		if away := (*blobs.UnavailableError)(nil); errors.As(err, &away) && away.Passing() {
			err = fmt.Errorf("the first start needs the blob store: see that it runs, and where --blob-url leads to: %w", err)
		}
		return "", err
	}
	return owner, secrets.CheckFingerprint(ctx, in.DB, secrets.BlobStore, owner)
}
