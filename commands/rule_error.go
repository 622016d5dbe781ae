package commands

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"muster/domain/alert"
	"muster/domain/exception"
	"muster/domain/organization"
	"muster/domain/report"
)

// RuleError says that a request was readable but breaks rules: all of them.
type RuleError struct {
	Code   string // the code of the whole answer, contract §1.5 and §1.6
	Title  string
	Detail string
	Fields []FieldError
	// RetryAfter is set for too_many_building, too_many_confirmations, too_many_senders and rate_limited.
	RetryAfter time.Duration
}

func (e *RuleError) Error() string { return e.Code + ": " + e.Detail }

// FieldError is one broken rule with the place in the body that breaks it.
type FieldError struct {
	Pointer string // JSON pointer fragment, "#/scope/to"
	Code    string
	Detail  string
	Params  map[string]any
}

// NotFoundError says that this organization has no such thing.
type NotFoundError struct{ What string }

func (e *NotFoundError) Error() string { return e.What + " not found" }

// ruleError makes one error of all broken rules; the first one names it.
func ruleError(broken report.BrokenRules) *RuleError {
	fields := make([]FieldError, len(broken))
	for i, b := range broken {
		fields[i] = FieldError{Pointer: b.Pointer, Code: b.Code, Detail: b.Detail, Params: b.Params}
	}
	e := newFieldErrors(fields)
	e.Code = cmp.Or(broken[0].Rule, e.Code)
	e.Title = titles()[e.Code]
	return e
}

func fieldError(pointer, code, detail string) *RuleError {
	return newFieldErrors([]FieldError{{Pointer: pointer, Code: code, Detail: detail}})
}

// MaxBroken is how many broken rules of one call are told.
const MaxBroken = 1000

// fieldErrors makes one error of all broken fields, none of none.
func fieldErrors(fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return newFieldErrors(fields)
}

func newFieldErrors(fields []FieldError) *RuleError {
	return &RuleError{
		Code: fields[0].Code, Title: titles()[fields[0].Code],
		Detail: fields[0].Pointer + " " + fields[0].Detail + ".", Fields: fields[:min(len(fields), MaxBroken)],
	}
}

// invalidState says that something cannot happen as things stand.
func invalidState(detail string) *RuleError {
	return &RuleError{Code: "invalid_state", Title: titles()["invalid_state"], Detail: detail}
}

// refused says what the domain refuses in the contract's codes; other errors pass.
func refused(err error) error {
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
		return invalidState("The alert is " + string(alertMoved.From) + ".")
	case errors.As(err, &muted) && muted.Muted:
		return invalidState("The alert is muted already.")
	case errors.As(err, &muted):
		return invalidState("The alert is not muted.")
	case errors.As(err, &moved):
		return invalidState("The exception is " + string(moved.From) + ".")
	case errors.As(err, &lapsed):
		return invalidState("Its time was over at " + lapsed.Until.UTC().Format(time.RFC3339) + ".")
	case errors.As(err, &last):
		return &RuleError{Code: "last_admin", Title: titles()["last_admin"], Detail: "Make somebody else an administrator first."}
	case errors.As(err, &unknown):
		return &NotFoundError{What: unknown.What}
	case errors.As(err, &status):
		return invalidState(status.Error() + ".")
	}
	return err
}

// OutsideLimit is told to a token that is limited to instances, of every item by which
// it reaches beyond them; also where there is no such instance, for it is not to find
// out which there are.
func OutsideLimit(pointers []string) *RuleError {
	fields := make([]FieldError, 0, len(pointers))
	for _, pointer := range pointers {
		fields = append(fields, outsideField(pointer))
	}
	return outsideLimit(fields)
}

func outsideLimit(fields []FieldError) *RuleError {
	e := &RuleError{
		Code: "outside_token", Title: titles()["outside_token"], Fields: fields[:min(len(fields), MaxBroken)],
		Detail: "This token may not write " + fields[0].Pointer + ": it is limited to its instances.",
	}
	if n := len(fields); n > MaxBroken {
		e.Detail = fmt.Sprintf("This token may not write at least %d items, which errors names: it is limited to its instances.", MaxBroken)
	} else if n > 1 {
		e.Detail = fmt.Sprintf("This token may not write %d items, which errors names: it is limited to its instances.", n)
	}
	return e
}

func outsideField(pointer string) FieldError {
	return FieldError{Pointer: pointer, Code: "outside_token", Detail: "is beyond what this token may write"}
}

// Title is the headline of a code that this package gives, for who gives it too.
func Title(code string) string { return titles()[code] }

// titles are the headlines of the codes of broken rules.
func titles() map[string]string {
	return map[string]string{
		"instance_not_in_organization": "Some instances cannot be used",
		"database_not_on_instance":     "The database is not on this instance",
		"scorecard_needs_one_instance": "A scorecard covers exactly one instance",
		"too_many_instances":           "Too many instances",
		"database_not_allowed":         "This kind of report has no database",
		"range_not_allowed":            "This kind of report has no date range",
		"range_required":               "A scorecard needs a date range",
		"window_in_future":             "The window lies in the future",
		"invalid_window":               "The window is empty",
		"report_range_too_wide":        "The report window is wider than 31 days",
		"too_many_recipients":          "Too many recipients",
		"recipient_not_member":         "Some recipients are not members",
		"unknown_check":                "There is no such check",
		"too_many_items":               "Too many items in one call",
		"too_many_senders":             "Too many senders",
		"duplicate_external_id":        "An external id appears twice in the call",
		"instance_required":            "It is not clear which instance is meant",
		"time_in_future":               "A time lies in the future",
		"invalid_name":                 "A name cannot be used",
		"invalid_text":                 "A text cannot be used",
		"out_of_range":                 "A value is out of range",
		"resolved_at_required":         "A closed alert needs the time when it was resolved",
		"resolved_at_not_allowed":      "An open alert cannot have a resolution time",
		"invalid_firing_window":        "The firing window ends before it begins",
		"unknown_instance":             "An instance is not known",
		"unknown_database":             "A database is not known",
		"duplicate_key":                "A key appears twice in one sample",
		"assessed_by_collector":        "Muster assesses the instance itself",
		"reason_required":              "An outcome needs its reason",
		"measured_required":            "A failed check needs what was found",
		"objects_not_allowed":          "Only a failed check has objects",
		"invalid_parameter":            "A value cannot be used",
		"own_request":                  "Another administrator has to grant it",
		"weekday_required":             "A weekly schedule needs its weekday",
		"day_of_month_required":        "A monthly schedule needs its day",
		"unknown_time_zone":            "There is no such time zone",
		"not_comparable":               "This kind of report cannot be compared",
		"too_many_schedules":           "Too many schedules",
		"member_required":              "Somebody has to be told",
		"url_not_allowed":              "The address cannot be used",
		"secret_required":              "A webhook needs a secret",
		"unknown_channel":              "A channel is not known",
		"too_many_channels":            "Too many channels",
		"too_many_rules":               "Too many rules",
		"channel_in_use":               "A rule tells through the channel",
		"too_many_confirmations":       "The address was asked too often",
		"link_gone":                    "The link no longer works",
		"forbidden":                    "Not allowed",
		"outside_token":                "The token is limited to its instances",
		"engine_fixed":                 "The engine of an instance never changes",
		"managed_by_connection":        "Administrators manage this instance",
		"last_admin":                   "The last administrator must stay",
		"precondition_failed":          "Somebody else changed it first",
		"invalid_state":                "Not possible in the current state",
	}
}
