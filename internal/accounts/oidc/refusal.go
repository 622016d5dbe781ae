package oidc

import (
	"errors"
	"net/http"
	"slices"

	"golang.org/x/oauth2"
)

// Reasons of a Refusal.
const (
	ReasonUnavailable = "provider_unavailable" // it does not answer as it should; trying later may help
	ReasonExpired     = "flow_expired"         // no flow of this browser, or too old: start again
	ReasonMismatch    = "flow_mismatch"        // brought back from another flow, or another provider
	ReasonDenied      = "denied"               // the person, or the provider, said no
	ReasonProvider    = "provider_error"       // it answered with another error
	ReasonCode        = "code_refused"         // the code is used up, or not ours
	ReasonToken       = "token_refused"        // the ID token is not what it should be
)

// Refusal says why a flow did not sign anybody in. Err is for the log; it names
// nobody.
type Refusal struct {
	Reason string
	Err    error
}

func (r *Refusal) Error() string { return r.Reason + ": " + r.Err.Error() }

func (r *Refusal) Unwrap() error { return r.Err }

func refuse(reason string, err error) error { return &Refusal{Reason: reason, Err: err} }

// refusedExchange says what it means that a code was not exchanged. The
// provider's description stays out of it: it may name the person.
func refusedExchange(err error) error {
	var answer *oauth2.RetrieveError
	switch {
	case !errors.As(err, &answer):
		return refuse(ReasonUnavailable, clipped(err))
	case answer.ErrorCode == "invalid_grant":
		return refuse(ReasonCode, errors.New("the provider answers invalid_grant"))
	case answer.Response != nil && answer.Response.StatusCode < http.StatusInternalServerError && answer.ErrorCode != "":
		return refuse(ReasonProvider, errors.New("the provider answers "+errorCode(answer.ErrorCode)))
	case answer.Response != nil:
		return refuse(ReasonUnavailable, errors.New("the provider answers "+answer.Response.Status))
	}
	return refuse(ReasonUnavailable, clipped(err))
}

// errorCodes are those of RFC 6749 and OpenID Connect Core, 3.1.2.6.
var errorCodes = []string{
	"invalid_request", "invalid_client", "invalid_grant", "invalid_scope", "unauthorized_client", "unsupported_grant_type",
	"unsupported_response_type", "access_denied", "server_error", "temporarily_unavailable", "interaction_required",
	"login_required", "account_selection_required", "consent_required", "invalid_request_uri", "invalid_request_object",
	"request_not_supported", "request_uri_not_supported", "registration_not_supported",
}

// errorCode is a code as the log may have it: it comes by way of the browser, and
// whoever makes one up may write anything into it.
func errorCode(code string) string {
	if slices.Contains(errorCodes, code) {
		return code
	}
	return "an error without a code of the standard"
}

// clipped keeps whole pages that a provider answers with out of the log.
func clipped(err error) error {
	const clipAt = 200
	if text := err.Error(); len(text) > clipAt {
		return errors.New(text[:clipAt] + "…")
	}
	return err
}
