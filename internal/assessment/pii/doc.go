// Package pii decides whether a column holds personal or secret data, from its name, its type
// and, if allowed, a sample of its values.
//
// rules.csv is the rule set. A name matches if its words contain one of the rule's tokens as a
// run of whole words, and none of the excluded ones (e_mail matches "eMail" and "home_e_mail";
// pan does not match "company"). Values match if the share that passes the rule's validator
// reaches its minimum. The confidence of a match depends on what matched: by_name, by_both or
// by_value. An empty by_value means that values alone prove nothing. Several rules may match;
// the one with the highest confidence wins, then the one with the highest weight.
//
// The sample is examined and discarded. The result is the rule and the share of matching values.
// It has no value, no part of a value, and no error text that may quote one.
//
// What may go wrong: a sample may miss data. A column whose name gives no hint and whose first
// two hundred rows are empty is not found; the report's methodology says so.
package pii
