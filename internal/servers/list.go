package servers

import "strings"

// listed is what stands for a list of values in a statement, and listLine is what the last line begins with that has them.
const (
	listed   = "@list"
	listLine = "\n--list "
)

// WithList is a statement whose @list stands for some values, such as SQL_IDs. They go to the server as parameters and
// not in its text: a server keeps a plan for each text, so a list of literals would be compiled at each look, and fill
// the cache that we measure. Only sessions of SQL Server and Oracle take such a statement. No value has a comma.
func WithList(statement string, values []string) string {
	return strings.TrimRight(statement, "\n ") + listLine + strings.Join(values, ",")
}

// cutList takes the values of a list out of a statement; nil: it has none. There are as many as the first size that is
// enough, so that a list makes few texts: the last value is repeated. A name of a database in the statement may hold
// anything, and makes no list.
func cutList(statement string, sizes ...int) (text string, values []string) {
	const plain = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,"
	at := strings.LastIndex(statement, listLine)
	if at < 0 || strings.Trim(statement[at+len(listLine):], plain) != "" {
		return statement, nil
	}
	values = strings.Split(statement[at+len(listLine):], ",")
	for _, size := range sizes {
		if len(values) > size {
			continue
		}
		for len(values) < size {
			values = append(values, values[len(values)-1])
		}
		break
	}
	return statement[:at], values
}

// placed is a statement with the names of parameters for its list, which is the last in it.
func placed(text string, n int, name func(i int) string) string {
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
