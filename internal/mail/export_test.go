package mail

import "time"

// Within is s for a test that does not wait for the contract's deadline.
func (s *SMTP) Within(timeout time.Duration) *SMTP {
	s.timeout = timeout
	return s
}

// NoticesLetter is what a mail of notices says, as text and as a page.
func NoticesLetter(n Notices) (text, page string) { return noticesLetter(n) }

// Refusal turns go-mail's error into ours.
func Refusal(err error) *DeliveryError { return refusal(err) }
