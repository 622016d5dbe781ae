package usecase

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"muster/domain/alert"
	"muster/domain/exception"
	"muster/domain/organization"
	"muster/domain/rule"
)

// RuleError says that a request was readable but breaks rules: all of them.
type RuleError struct {
	Code   string // the code of the whole answer, contract §1.5 and §1.6
	Detail string
	Fields []rule.Broken
	// RetryAfter is set for too_many_building, too_many_confirmations, too_many_senders, too_many_marks and rate_limited.
	RetryAfter time.Duration
}

func (e *RuleError) Error() string { return e.Code + ": " + e.Detail }

// NotFoundError says that this organization has no such thing.
type NotFoundError struct{ What string }

func (e *NotFoundError) Error() string { return e.What + " not found" }

// RuleErrorOf makes one error of all broken rules; the first one names it.
func RuleErrorOf(broken rule.Set) *RuleError {
	e := newFieldErrors(broken)
	e.Code = cmp.Or(broken[0].Whole, e.Code)
	return e
}

// FieldError refuses one field.
func FieldError(pointer, code, detail string) *RuleError {
	return newFieldErrors([]rule.Broken{{Pointer: pointer, Code: code, Detail: detail}})
}

// MaxBroken is the maximum number of broken rules that the errors of one call contain.
const MaxBroken = 1000

// FieldErrors makes one error of all broken fields, none of none.
func FieldErrors(fields []rule.Broken) error {
	if len(fields) == 0 {
		return nil
	}
	return newFieldErrors(fields)
}

func newFieldErrors(fields []rule.Broken) *RuleError {
	return &RuleError{
		Code: fields[0].Code, Detail: fields[0].Pointer + " " + fields[0].Detail + ".", Fields: fields[:min(len(fields), MaxBroken)],
	}
}

// InvalidState says that something cannot happen as things stand.
func InvalidState(detail string) *RuleError {
	return &RuleError{Code: "invalid_state", Detail: detail}
}

// Refused says what the domain refuses in the contract's codes; other errors pass.
func Refused(err error) error {
	var (
		alertMoved *alert.TransitionError
		muted      *alert.MutedError
		moved      *exception.TransitionError
		lapsed     *exception.LapsedError
		last       *organization.LastAdminError
		unknown    *organization.UnknownError
		status     *organization.InvalidStatusError
	)
	switch {
	case errors.As(err, &alertMoved):
		return InvalidState("The alert is " + string(alertMoved.From) + ".")
	case errors.As(err, &muted) && muted.Muted:
		return InvalidState("The alert is muted already.")
	case errors.As(err, &muted):
		return InvalidState("The alert is not muted.")
	case errors.As(err, &moved):
		return InvalidState("The exception is " + string(moved.From) + ".")
	case errors.As(err, &lapsed):
		return InvalidState("Its time was over at " + lapsed.Until.UTC().Format(time.RFC3339) + ".")
	case errors.As(err, &last):
		return &RuleError{Code: "last_admin", Detail: "Make another member an administrator first."}
	case errors.As(err, &unknown):
		return &NotFoundError{What: unknown.What}
	case errors.As(err, &status):
		return InvalidState(status.Error() + ".")
	}
	return err
}

// OutsideLimit is the error of every item that is beyond a limited token's instances. It is the
// same if there is no such instance, so the token cannot find out which instances exist.
func OutsideLimit(pointers []string) *RuleError {
	fields := make([]rule.Broken, 0, len(pointers))
	for _, pointer := range pointers {
		fields = append(fields, OutsideField(pointer))
	}
	return OutsideFields(fields)
}

// OutsideFields is OutsideLimit for fields that OutsideField made.
func OutsideFields(fields []rule.Broken) *RuleError {
	e := &RuleError{
		Code: "outside_token", Fields: fields[:min(len(fields), MaxBroken)],
		Detail: "This token may not write " + fields[0].Pointer + ": it is limited to its instances.",
	}
	if n := len(fields); n > MaxBroken {
		e.Detail = fmt.Sprintf("This token may not write at least %d items, which errors names: it is limited to its instances.", MaxBroken)
	} else if n > 1 {
		e.Detail = fmt.Sprintf("This token may not write %d items, which errors names: it is limited to its instances.", n)
	}
	return e
}

// OutsideField is a field of a call that a limited token may not write.
func OutsideField(pointer string) rule.Broken {
	return rule.Broken{Pointer: pointer, Code: "outside_token", Detail: "is beyond what this token may write"}
}

// OthersServer says why somebody with the role team may not change a server that they see.
const OthersServer = "Your teams let you see this server. They do not let you change it."
