package day

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count is a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Number is a number without needless decimals.
func Number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Lasting is how long something lasted.
func Lasting(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "under a minute"
	case d < time.Hour:
		return Count(int(d.Minutes()), "minute", "minutes")
	case d < 48*time.Hour:
		if m := int(d.Minutes()) % 60; m > 0 {
			return fmt.Sprintf("%d h %d min", int(d.Hours()), m)
		}
		return Count(int(d.Hours()), "hour", "hours")
	}
	return Count(int(d.Hours()/24), "day", "days")
}

// Days is how many days there are until something.
func Days(n float64) string {
	switch {
	case n < 0.05:
		return "no time: it is full"
	case n < 1.5:
		return "about a day"
	}
	return fmt.Sprintf("about %.0f days", n)
}

// Objective is a recovery point objective (RPO) in words, exactly, as the pages have it.
func Objective(seconds int64) string {
	minutes := seconds / 60
	switch {
	case minutes%1440 == 0 && minutes > 1440:
		return fmt.Sprintf("%d d", minutes/1440)
	case minutes%60 == 0:
		return fmt.Sprintf("%d h", minutes/60)
	}
	return fmt.Sprintf("%d min", minutes)
}

// LateBackup says what is wrong with a backup.
func LateBackup(b Backup) string {
	of := ""
	if b.Database != "" {
		of = " of " + b.Database
	}
	age := Lasting(time.Duration(b.Seconds) * time.Second)
	if b.None {
		return "No backup" + of + " in " + age
	}
	return "Newest backup" + of + " is " + age + " old"
}

// signed is a difference with its sign.
func signed(n int) string {
	switch {
	case n > 0:
		return "+" + strconv.Itoa(n)
	case n < 0:
		return "−" + strconv.Itoa(-n)
	}
	return "±0"
}

// change is a difference to the day before in words.
func change(now, before int) string {
	if now == before {
		return "as the day before"
	}
	return signed(now-before) + " since the day before"
}

// list joins what is not empty.
func list(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ", ")
}

// some is a count unless it is zero.
func some(n int, one, many string) string {
	if n == 0 {
		return ""
	}
	return Count(n, one, many)
}

func owner(name string) string {
	if name == "" {
		return "no owner"
	}
	return name
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// shorten cuts a text of a machine.
func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return strings.TrimSpace(string(runes[:n-1])) + "…"
	}
	return s
}

// milliseconds is a time of an execution.
func milliseconds(ms float64) string {
	switch {
	case ms >= 10_000:
		return fmt.Sprintf("%.0f s", ms/1000)
	case ms >= 1000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 10:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.2g ms", ms)
}
