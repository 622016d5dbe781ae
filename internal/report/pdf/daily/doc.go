// Package daily writes a daily digest on one page, or on two: the words of package day, and
// nothing else.
package daily
