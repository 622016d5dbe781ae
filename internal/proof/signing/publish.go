package signing

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/internal/proof/attest"
	"muster/internal/secrets"
)

//go:embed sql/published.sql
var selectPublished string

// row is one of published_keys, where keys were kept before there was a log of them.
type row struct {
	ID          string     `db:"id"`
	Use         string     `db:"use"`
	Algorithm   string     `db:"algorithm"`
	PublicKey   []byte     `db:"public_key"`
	VerifierKey string     `db:"verifier_key"`
	Certificate string     `db:"certificate"`
	ValidFrom   time.Time  `db:"valid_from"`
	ValidTo     *time.Time `db:"valid_to"`
	RevokedAt   *time.Time `db:"revoked_at"`
	Reason      string     `db:"reason"`
	Fingerprint string     `db:"fingerprint"` // of the secret key that it comes from; empty: the operator's
}

func (r row) entry() entry {
	k := attest.Key{
		ID: r.ID, Use: attest.Use(r.Use), Algorithm: r.Algorithm, PublicKey: r.PublicKey,
		VerifierKey: r.VerifierKey, Certificate: r.Certificate, ValidFrom: r.ValidFrom.UTC(), Reason: r.Reason,
	}
	for to, at := range map[**time.Time]*time.Time{&k.ValidTo: r.ValidTo, &k.RevokedAt: r.RevokedAt} {
		if at != nil {
			utc := at.UTC()
			*to = &utc
		}
	}
	return entry{k, r.Fingerprint}
}

// Publish has the log say which keys may sign now. Processes may do so at once, and again.
// Behind what this installation did not write, the log begins anew with what it had before.
func (s *Signing) Publish(ctx context.Context) error {
	_, err := s.publish(ctx)
	return err
}

// publishAttempts is how often an append is tried again, because another process was first.
const publishAttempts = 10

// publish returns what the log says once all keys that may sign now are in it.
func (s *Signing) publish(ctx context.Context) (history, error) {
	for attempt := 0; ; attempt++ {
		h, err := s.read(ctx)
		if err != nil {
			return h, err
		}
		eventType, c, signers, err := s.due(ctx, h)
		if err != nil || eventType == "" {
			return h, err
		}
		// A process with a key file from before a rotation believes nothing that the others
		// append.
		if err := s.ring.Outdated(ctx, s.db); err != nil {
			return h, fmt.Errorf("publish the keys: %w", err)
		}
		event, err := s.event(h, eventType, c, signers...)
		if err != nil {
			return h, err
		}
		_, err = eventstore.New(s.db).Append(ctx, eventstore.Keys, event)
		var first *eventstore.ConflictError
		if err != nil && (!errors.As(err, &first) || attempt >= publishAttempts) {
			return h, fmt.Errorf("publish the keys: %w", err)
		}
	}
}

// event is what is appended of a change.
func (s *Signing) event(h history, eventType string, c change, signers ...*secrets.Key) (eventstore.Append, error) {
	c.Installation, c.Previous = s.installation, digestOf(h.last)
	data, err := signChange(eventType, c, signers...)
	if err != nil {
		return eventstore.Append{}, err
	}
	id, err := uuid.Parse(s.installation)
	if err != nil {
		return eventstore.Append{}, fmt.Errorf("read the installation's id: %w", err)
	}
	return eventstore.Append{
		Organization: id, StreamType: streamType, Stream: id, Expected: h.version,
		Events: []eventstore.NewEvent{{Type: eventType, Data: data}}, Metadata: eventstore.Metadata{ActorID: "system:keys"},
	}, nil
}

// due is the change that the log lacks, one at a time; empty: none.
func (s *Signing) due(ctx context.Context, h history) (eventType string, c change, signers []*secrets.Key, err error) {
	ring := s.ring.Keys()
	current, err := s.current()
	if err != nil {
		return "", c, nil, err
	}
	if h.version == 0 {
		return s.begin(ctx, ring[0], current)
	}
	if h.whole() != nil {
		return s.beginAnew(ctx, h, ring[0], current)
	}
	missing := slices.DeleteFunc(slices.Clone(current), func(k published) bool {
		_, ok := h.of(k.reference())
		return ok
	})
	if len(missing) == 0 {
		return "", c, nil, nil
	}
	now, err := s.now(ctx)
	if err != nil {
		return "", c, nil, err
	}
	known := func(k *secrets.Key) bool {
		return slices.ContainsFunc(h.keys, func(e entry) bool { return e.Secret == k.Fingerprint() })
	}
	// The oldest key of the file that the log does not know was rotated to first.
	for i := len(ring) - 1; i >= 0; i-- {
		if known(ring[i]) {
			continue
		}
		for _, k := range missing {
			if k.fingerprint == ring[i].Fingerprint() {
				c.Keys = append(c.Keys, k.entry(now))
			}
		}
		for _, before := range ring[i+1:] {
			if known(before) {
				return keysRotated, c, []*secrets.Key{before, ring[i]}, nil
			}
		}
		return s.beginAnew(ctx, h, ring[0], current)
	}
	signer := ring[0]
	for _, k := range missing {
		c.Keys = append(c.Keys, k.entry(now))
		if k.fingerprint != "" {
			continue
		}
		// The operator has one certificate at a time. Other processes may not have been
		// started again yet.
		until := now.AddDate(0, 0, 1)
		for _, had := range h.keys {
			if had.Secret == "" && had.ValidTo == nil {
				c.Ended, c.At = append(c.Ended, had.reference()), &until
			}
		}
	}
	return keysAdded, c, []*secrets.Key{signer}, nil
}

func (k published) entry(from time.Time) entry {
	k.ValidFrom = from
	return entry{k.Key, k.fingerprint}
}

// begin is the first event. The rows of an earlier program in published_keys are taken over as
// they are: they were not signed. That happens once: if a checkpoint of the log exists beside
// the secret key, somebody removed the log.
func (s *Signing) begin(ctx context.Context, signer *secrets.Key, current []published) (string, change, []*secrets.Key, error) {
	var c change
	now, err := s.now(ctx)
	if err != nil {
		return "", c, nil, err
	}
	rows, err := statement.All[row](ctx, s.db, "read the published keys", selectPublished)
	if err != nil {
		return "", c, nil, err
	}
	gone, err := s.begun()
	if err != nil {
		return "", c, nil, err
	}
	if gone {
		rows = nil
	}
	for _, k := range current {
		from := now
		for _, r := range rows {
			if r.ID == k.ID && attest.Use(r.Use) == k.Use && r.ValidFrom.Before(now) {
				from = r.ValidFrom.UTC()
			}
		}
		c.Keys = append(c.Keys, k.entry(from))
	}
	eventType := keysMade
	for _, r := range rows {
		eventType = keysFound
		if !slices.ContainsFunc(c.Keys, func(k entry) bool { return k.reference() == r.entry().reference() }) {
			c.Keys = append(c.Keys, r.entry())
		}
	}
	return eventType, c, []*secrets.Key{signer}, nil
}

// begun says whether a checkpoint of the log lies beside the secret key (checkpoint.Beside).
func (s *Signing) begun() (bool, error) {
	for _, dir := range s.dirs {
		_, err := os.Stat(LastFile(dir, s.ring.Path(), eventstore.Keys))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// beginAnew is the first event of a history after unsigned ones: our own keys, and all that the
// log had before that.
func (s *Signing) beginAnew(ctx context.Context, h history, signer *secrets.Key, current []published) (string, change, []*secrets.Key, error) {
	now, err := s.now(ctx)
	if err != nil {
		return "", change{}, nil, err
	}
	c := change{Keys: slices.Clone(h.keys)}
	for _, k := range current {
		if _, ok := h.of(k.reference()); !ok {
			c.Keys = append(c.Keys, k.entry(now))
		}
	}
	return keysFound, c, []*secrets.Key{signer}, nil
}

// now is the database's clock, which records what is signed.
func (s *Signing) now(ctx context.Context) (time.Time, error) {
	now, err := statement.One[time.Time](ctx, s.db, "look at the clock", `SELECT clock_timestamp()`)
	return now.UTC(), err
}

// Keys is the document of keys, the current ones first: those that may sign now as they
// are, and those that have gone as the log has them. It is signed by the current key.
func (s *Signing) Keys(ctx context.Context) (attest.Keys, error) {
	h, err := s.publish(ctx)
	if err != nil {
		return attest.Keys{}, err
	}
	return s.document(h)
}

// PublishedAge is how old the document may be that Published returns.
const PublishedAge = 5 * time.Second

// Published is the document of keys for requests, however frequent: it appends nothing, and
// reads the log once in PublishedAge. It lacks a key that is not in the log yet. Errors: those
// of secrets.Ring.Outdated; *HistoryError if the log has none of our keys.
func (s *Signing) Published(ctx context.Context) (attest.Keys, error) {
	if last := s.published.Load(); last != nil && time.Since(last.at) < PublishedAge {
		return last.document, nil
	}
	if err := s.ring.Outdated(ctx, s.db); err != nil { // what it believes may be from before a revocation
		return attest.Keys{}, fmt.Errorf("publish the keys: %w", err)
	}
	at := time.Now()
	h, err := s.read(ctx)
	if err != nil {
		return attest.Keys{}, err
	}
	document, err := s.document(h)
	if err == nil {
		s.published.Store(&publishedDocument{document, at})
	}
	return document, err
}

// publishedDocument is what Published returned last.
type publishedDocument struct {
	document attest.Keys
	at       time.Time
}

// document is what the log says of the keys, signed by the newest that it has of ours.
func (s *Signing) document(h history) (attest.Keys, error) {
	current, err := s.current()
	if err != nil {
		return attest.Keys{}, err
	}
	document := attest.Keys{Installation: s.installation, Head: h.believed.String()}
	for _, k := range current {
		if had, ok := h.of(k.reference()); ok {
			k.ValidFrom, k.RevokedAt, k.Reason = had.ValidFrom, had.RevokedAt, had.Reason
			document.Keys = append(document.Keys, k.Key)
		}
	}
	gone := slices.DeleteFunc(slices.Clone(h.keys), func(k entry) bool {
		return slices.ContainsFunc(current, func(c published) bool { return c.Use == k.Use && c.ID == k.ID })
	})
	slices.SortStableFunc(gone, func(a, b entry) int { return b.ValidFrom.Compare(a.ValidFrom) })
	for _, k := range gone {
		document.Keys = append(document.Keys, k.Key)
	}
	for _, secret := range s.ring.Keys() {
		key, err := reportKey(secret)
		if err != nil {
			return attest.Keys{}, err
		}
		if _, ok := h.of(reference{key.Use, key.ID}); ok {
			return document.Sign(secret.ReportSigner())
		}
	}
	return attest.Keys{}, &HistoryError{cmp.Or(h.wrong, "it has none of our keys")}
}

// Retire says of the keys that come from secret keys which have gone until when they
// signed, in the transaction that takes them away, as its last write.
func (s *Signing) Retire(ctx context.Context, tx *sqlx.Tx) error {
	h, err := s.read(ctx)
	if err != nil {
		return err
	}
	ring := s.ring.Keys()
	if err := h.whole(); err != nil {
		return err
	}
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	c := change{At: &now}
	for _, k := range h.keys {
		if k.Secret != "" && k.Secret != ring[0].Fingerprint() && k.ValidTo == nil {
			c.Ended = append(c.Ended, k.reference())
		}
	}
	if len(c.Ended) == 0 {
		return nil
	}
	return s.append(ctx, tx, h, keysRetired, c)
}

// append writes a change in a transaction, signed by the current key.
func (s *Signing) append(ctx context.Context, tx *sqlx.Tx, h history, eventType string, c change) error {
	event, err := s.event(h, eventType, c, s.ring.Current())
	if err != nil {
		return err
	}
	if _, err := eventstore.New(s.db).AppendTx(ctx, tx, eventstore.Keys, event); err != nil {
		return fmt.Errorf("record what became of the keys: %w", err)
	}
	return nil
}
