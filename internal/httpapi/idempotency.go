package httpapi

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"muster/internal/accounts"
	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
	"muster/internal/postgres/statement"
)

const (
	keyAge = 24 * time.Hour // how long an answer is kept
	// claimAge is after what a key's claimant is taken for dead: one that lives has ended by
	// then (wire.WriteTimeout, and two changes).
	claimAge      = 30 * time.Second
	changeTimeout = 2 * time.Second // of a change to the key's row when the request is over
)

//go:embed sql/claim_key.sql
var claimKeySQL string

// kept are the headers that belong to a kept answer.
var kept = []string{"Content-Type", "Location", "Content-Location", "Retry-After"}

// once runs a request with an Idempotency-Key once, and answers the next ones
// from the record (draft-ietf-httpapi-idempotency-key-header-07). A refusal is not
// kept, so that a corrected request may use the key again.
func (s *server) once(c *gin.Context) {
	key := c.GetHeader("Idempotency-Key")
	row := s.routes[contract.RouteKey(c.Request.Method, c.FullPath())]
	if key == "" || row == nil || !row.Idempotent {
		return
	}
	body, err := io.ReadAll(c.Request.Body)
	if err != nil {
		s.fail(c, err)
		c.Abort()
		return
	}
	c.Request.Body = io.NopCloser(bytes.NewReader(body))
	k := keyed{server: s, member: wire.Caller(c).Member.ID, route: contract.RouteKey(row.Method, row.Path), claim: uuid.New(), made: uuid.Must(uuid.NewV7())}
	k.key, k.digest = concealed(wire.Caller(c), key, body)
	ctx := c.Request.Context() // never gin's own for the database, see detached
	claimed, err := k.take(ctx)
	if err == nil && !claimed {
		err = k.answer(c)
	}
	if err != nil {
		s.fail(c, err)
	}
	if err != nil || !claimed {
		c.Abort()
		return
	}
	wire.CallOf(ctx).Made = k.made
	recorder := &answerRecorder{ResponseWriter: c.Writer}
	c.Writer = recorder
	// A claim that its request does not outlive must not wait for claimAge. That a
	// request failed does not say that it made nothing: then what it makes keeps
	// its id.
	end := k.handOver
	defer func() { end(ctx) }()
	c.Next()
	switch status := recorder.Status(); {
	case status < 300:
		if k.keep(ctx, status, recorder) {
			end = func(context.Context) {}
		}
	case status < 500:
		end = k.release
	}
}

type answerRecorder struct {
	gin.ResponseWriter
	body bytes.Buffer
}

func (r *answerRecorder) Write(p []byte) (int, error) {
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}

// concealed makes of a caller's key the name that it is kept under, and of the body
// what shows that it is the same one. A token has keys of its own, since it may
// see less than its owner; the sessions of a member share theirs, so that a
// request can be sent again after signing in anew. Neither key nor body can be
// had from the row: a body may hold a password, and a bare digest of it would let
// whoever has the database try passwords fast.
func concealed(p accounts.Principal, key string, body []byte) (name string, digest []byte) {
	principal := p.Member.ID
	if p.Method == accounts.MethodToken {
		principal = p.ID
	}
	secret := slices.Concat(principal[:], []byte(key))
	named, mac := sha256.Sum256(secret), hmac.New(sha256.New, secret)
	mac.Write(body)
	return hex.EncodeToString(named[:]), mac.Sum(nil)
}

// keyed is one use of a key.
type keyed struct {
	server     *server
	member     uuid.UUID
	route, key string
	claim      uuid.UUID
	made       uuid.UUID // the id of what the request makes
	digest     []byte
}

// take claims the key; false where it is somebody else's.
func (k *keyed) take(ctx context.Context) (bool, error) {
	now := k.server.Now()
	err := statement.Exec(ctx, k.server.DB, "forget idempotency keys", `DELETE FROM idempotency_keys WHERE claimed_at < $1`, now.Add(-keyAge))
	if err != nil {
		return false, err
	}
	made, ok, err := statement.Find[uuid.UUID](ctx, k.server.DB, "claim idempotency key", claimKeySQL,
		k.member, k.route, k.key, k.claim, k.made, k.digest, now, now.Add(-keyAge), now.Add(-claimAge))
	k.made = made
	return ok, err
}

// answer says again what was answered first, or why it cannot.
func (k keyed) answer(c *gin.Context) error {
	var row struct {
		Digest  []byte         `db:"request_digest"`
		Status  sql.NullInt64  `db:"status"`
		Headers sql.NullString `db:"headers"`
		Body    []byte         `db:"body"`
		Claimed time.Time      `db:"claimed_at"`
	}
	err := k.server.DB.GetContext(c.Request.Context(), &row, `SELECT request_digest, status, headers, body, claimed_at FROM idempotency_keys
		WHERE member_id = $1 AND route = $2 AND key = $3`, k.member, k.route, k.key)
	switch {
	case errors.Is(err, sql.ErrNoRows): // released between our two looks
		return &wire.Problem{Code: "idempotency_in_progress", Detail: "Try again.", RetryAfter: time.Second}
	case err != nil:
		return fmt.Errorf("read idempotency key: %w", err)
	case !bytes.Equal(row.Digest, k.digest):
		return &wire.Problem{Code: "idempotency_key_reused", Detail: "This Idempotency-Key was used with another body."}
	case !row.Status.Valid:
		return &wire.Problem{Code: "idempotency_in_progress", Detail: "The first request with this key is still running, or has just broken off.",
			RetryAfter: row.Claimed.Add(claimAge).Sub(k.server.Now())}
	}
	headers := map[string]string{}
	if err := json.Unmarshal([]byte(row.Headers.String), &headers); err != nil {
		return fmt.Errorf("read idempotency key: %w", err)
	}
	for name, value := range headers {
		c.Header(name, value)
	}
	c.Header("Idempotency-Replayed", "true")
	c.Status(int(row.Status.Int64))
	_, err = c.Writer.Write(row.Body)
	return err
}

// keep records the answer, unless the claim was taken over meanwhile.
func (k keyed) keep(ctx context.Context, status int, answer *answerRecorder) bool {
	headers := map[string]string{}
	for _, name := range kept {
		if v := answer.Header().Get(name); v != "" {
			headers[name] = v
		}
	}
	text, err := json.Marshal(headers)
	if err == nil {
		err = k.change(ctx, `UPDATE idempotency_keys SET status = $5, headers = $6, body = $7`, status, string(text), answer.body.Bytes())
	}
	return k.tell(ctx, "keep the answer of an idempotency key", err)
}

// change runs a statement on the row of the claim, also where the request has ended.
func (k keyed) change(ctx context.Context, what string, args ...any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	_, err := k.server.DB.ExecContext(ctx, what+` WHERE member_id = $1 AND route = $2 AND key = $3 AND claim = $4`,
		append([]any{k.member, k.route, k.key, k.claim}, args...)...)
	return err
}

// tell logs what was not done, which is no failure of the request; true where it was.
func (k keyed) tell(ctx context.Context, what string, err error) bool {
	if err != nil {
		k.server.Log.WarnContext(ctx, what, "error", err)
	}
	return err == nil
}

// handOver lets the same request be sent again at once, to make what this one may
// have made.
func (k keyed) handOver(ctx context.Context) {
	k.tell(ctx, "hand an idempotency key over",
		k.change(ctx, `UPDATE idempotency_keys SET claimed_at = claimed_at - $5 * interval '1 second'`, (claimAge+time.Second).Seconds()))
}

// release gives the key back after a refusal.
func (k keyed) release(ctx context.Context) {
	k.tell(ctx, "release an idempotency key", k.change(ctx, `DELETE FROM idempotency_keys`))
}
