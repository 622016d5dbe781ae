package accounts

import "time"

// Refusal says why somebody was not let in, or an account was not made.
type Refusal struct {
	Code       string // one of the Code constants
	Detail     string // for the person refused; says nothing they may not know
	RetryAfter time.Duration
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Detail }

// Codes of a Refusal, as in the contract, §1.5 and §1.6.
const (
	CodeUnauthenticated    = "unauthenticated"
	CodeSessionExpired     = "session_expired"
	CodeTokenExpired       = "token_expired"
	CodeTokenRevoked       = "token_revoked"
	CodeInvalidCredentials = "invalid_credentials"
	CodeLoginThrottled     = "login_throttled" // with RetryAfter
	CodeWeakPassword       = "weak_password"
	CodeMemberExists       = "member_exists"
	CodeSetupClosed        = "setup_closed"    // an administrator exists
	CodeSetupLinkGone      = "forbidden"       // unknown, used, or older than 30 minutes
	CodeInvitationGone     = "invitation_gone" // 410: unknown, used, or older than 24 h
)
