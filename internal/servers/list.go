package servers

import (
	"slices"
	"strings"
)

// padded is a list of as many values as the first size that is enough, so that lists make few texts: the last value is
// repeated.
func padded(list []string, sizes ...int) []string {
	at := slices.IndexFunc(sizes, func(size int) bool { return size >= len(list) })
	if at < 0 || len(list) == 0 {
		return list
	}
	return append(slices.Clone(list), slices.Repeat(list[len(list)-1:], sizes[at]-len(list))...)
}

// placed is a text with the names of n parameters for its list, which is the last in it: what stands before may hold
// the name of a database.
func placed(text string, n int, name func(i int) string) string {
	const listed = "@list"
	at := strings.LastIndex(text, listed)
	if n == 0 || at < 0 {
		return text
	}
	names := make([]string, n)
	for i := range names {
		names[i] = name(i)
	}
	return text[:at] + strings.Join(names, ", ") + text[at+len(listed):]
}
