// Package pii decides whether a column holds personal or secret data, from its
// name, its type and, where allowed, a sample of its values.
//
// rules.csv is the rule set. A name matches when its words hold one of the
// rule's tokens as a run of whole words (e_mail matches "eMail" and
// "home_e_mail", pan does not match "company") and none of the excluded ones.
// Values match when the share that passes the rule's validator reaches its
// minimum. How sure a match is depends on what matched: by_name, by_both or
// by_value; an empty by_value means that values alone prove nothing.
// Several rules may match; the surest wins, then the heaviest.
//
// The sample is looked at and forgotten. What leaves is the rule and the share
// of values that fit: no value, no part of one, no error text that may quote one.
//
// What may go wrong: a sample is a sample. A column whose name says nothing and
// whose first two hundred rows are empty is not found; the methodology says so.
package pii
