package timestamp

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	rfc3161 "github.com/digitorus/timestamp"
)

// MaxSize is the largest answer and token in bytes. Those of public services have 3,000
// to 7,000.
const MaxSize = 16 << 10

// Patience is how long Stamp waits for an answer, where its context waits longer.
const Patience = 5 * time.Second

// Service is an RFC 3161 service reached over HTTP.
type Service struct{ URL string }

// UnavailableError reports a service that gave no answer that can be judged.
type UnavailableError struct {
	Status int // of its HTTP answer; 0: there was none
	Cause  error
}

func (e *UnavailableError) Error() string {
	return "the time stamp service is away: " + e.Cause.Error()
}

func (e *UnavailableError) Unwrap() error { return e.Cause }

// RefusedError reports a service that does not want to.
type RefusedError struct {
	Status  int    // PKIStatus of RFC 3161, 2 or more
	Reasons string // what the service says
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the time stamp service refuses with status %d: %s", e.Status, e.Reasons)
}

// client is that of all services: a redirect would send the question to whom nobody chose.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Stamp gets a token over a SHA-256 digest. Errors: *UnavailableError, *RefusedError,
// *TokenError.
func (s Service) Stamp(ctx context.Context, digest []byte) ([]byte, error) {
	nonce, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 63))
	if err != nil {
		return nil, err
	}
	query := rfc3161.Request{HashAlgorithm: crypto.SHA256, HashedMessage: digest, Certificates: true, Nonce: nonce}
	asked, err := query.Marshal()
	if err != nil {
		return nil, fmt.Errorf("write the question for a time stamp: %w", err)
	}
	answer, err := s.ask(ctx, asked)
	if err != nil {
		return nil, err
	}
	token, err := granted(answer)
	if err != nil {
		return nil, err
	}
	if _, err := verify(token, digest, nil, nonce); err != nil {
		return nil, err
	}
	return token, nil
}

// ask sends a question and gives the answer's bytes. Errors: *UnavailableError.
func (s Service) ask(ctx context.Context, query []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(query))
	if err != nil {
		return nil, &UnavailableError{Cause: withoutURL(err)}
	}
	request.Header.Set("Content-Type", "application/timestamp-query")
	request.Header.Set("Accept", "application/timestamp-reply")
	response, err := client.Do(request)
	if err != nil {
		return nil, &UnavailableError{Cause: withoutURL(err)}
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if response.StatusCode != http.StatusOK {
		return nil, &UnavailableError{response.StatusCode, fmt.Errorf("it answers %s", response.Status)}
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != "application/timestamp-reply" {
		return nil, &UnavailableError{response.StatusCode, fmt.Errorf("it answers %.80q, not application/timestamp-reply", response.Header.Get("Content-Type"))}
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, MaxSize+1))
	if err != nil {
		return nil, &UnavailableError{response.StatusCode, withoutURL(err)}
	}
	if len(answer) > MaxSize {
		return nil, &UnavailableError{response.StatusCode, fmt.Errorf("its answer has more than %d bytes", MaxSize)}
	}
	return answer, nil
}

// withoutURL is an error of net/http without the address, which may hold a password.
func withoutURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// reply is a TimeStampResp.
type reply struct {
	Status struct {
		Status  int
		Texts   []asn1.RawValue `asn1:"optional"`
		Failure asn1.BitString  `asn1:"optional"`
	}
	Token asn1.RawValue `asn1:"optional"`
}

// granted is the token in an answer. The library refuses what is granted with
// modifications, so that the answer is read here. Errors: *RefusedError, *TokenError.
func granted(answer []byte) ([]byte, error) {
	var r reply
	if rest, err := asn1.Unmarshal(answer, &r); err != nil || len(rest) > 0 {
		return nil, &TokenError{"the answer is not one of RFC 3161"}
	}
	if r.Status.Status > int(rfc3161.GrantedWithMods) || r.Status.Status < 0 {
		var said []string
		for _, text := range r.Status.Texts {
			said = append(said, strings.ToValidUTF8(string(text.Bytes), "?"))
		}
		for bit := range r.Status.Failure.BitLength {
			if r.Status.Failure.At(bit) == 1 {
				said = append(said, rfc3161.FailureInfo(bit).String())
			}
		}
		return nil, &RefusedError{r.Status.Status, fmt.Sprintf("%.200q", strings.Join(said, "; "))}
	}
	if len(r.Token.FullBytes) == 0 {
		return nil, &TokenError{"it is granted, and there is none"}
	}
	return r.Token.FullBytes, nil
}
