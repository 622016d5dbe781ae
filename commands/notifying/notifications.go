package notifying

import (
	"context"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/notification"
	"muster/domain/rule"
)

// Notifications are the use cases of channels and of notification rules.
type Notifications struct {
	base  *usecase.Base
	needs Needs
}

// Needs is what they ask of others, beside their base.
type Needs struct {
	Seal      Sealer // of channels' addresses
	Channels  Channels
	Instances Names
}

// New returns the use cases over a base.
func New(base *usecase.Base, needs Needs) *Notifications {
	return &Notifications{base: base, needs: needs}
}

// Names answers what instances are called.
type Names interface {
	// InstanceNames returns the names of those ids that exist and are not removed.
	InstanceNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error)
}

// Sealer keeps what must not be read; *secrets.Ring does.
type Sealer interface {
	Seal(plaintext, context []byte) ([]byte, error)
	Open(sealed, context []byte) ([]byte, error)
	// SealedUnder is the fingerprint of the key that a ciphertext names.
	SealedUnder(sealed []byte) string
}

// Channels judges the settings of channels. internal/notify/channel/kinds has it.
type Channels interface {
	// Broken returns the rules that the settings break, or that their kind is not known.
	Broken(c notification.Channel) []rule.Broken
	// AllowsURL looks its host up. An error is a sentence for the member who set the URL.
	AllowsURL(ctx context.Context, url string) error
}
