package tdstest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// answerAll answers what a session asks, one query after another.
func (s *Server) answerAll(conn net.Conn, database string) error {
	asked := make(chan message)
	over := make(chan struct{})
	defer close(over)
	s.served.Go(func() { // so that an attention is heard in the middle of an answer
		defer close(asked)
		for {
			m, err := readMessage(conn)
			if err != nil {
				return
			}
			select {
			case asked <- m:
			case <-over:
				return
			}
		}
	})
	for m := range asked {
		if m.kind == packetAttention { // of an answer that was already complete
			if err := s.confirm(&reply{w: conn}); err != nil {
				return err
			}
			continue
		}
		text, err := statement(m)
		if err != nil {
			return err
		}
		if err := s.answerOne(conn, asked, Query{Text: text, Database: database, Nested: m.kind == packetRPC}); err != nil {
			return err
		}
	}
	return io.EOF
}

func (s *Server) answerOne(conn net.Conn, asked <-chan message, q Query) error {
	r := &reply{w: conn}
	if strings.HasPrefix(q.Text, "SET ") {
		var settings string
		settings, q.Text = split(q.Text)
		if !q.Nested {
			s.t.Errorf("%q is set for the whole session", settings)
		}
		keep(s, &s.settings, settings)
	}
	keep(s, &s.queries, q)
	s.mu.Lock()
	by := s.answers[FirstLine(q.Text)]
	s.mu.Unlock()
	if by == nil && strings.HasPrefix(q.Text, "-- identity: ") {
		by = func(Query) Answer {
			return Answer{Rows: [][]any{{"TDS" + strconv.Itoa(s.Addr().Port), "2026-11-20T08:00:00.003", ""}}}
		}
	}
	if by == nil {
		s.t.Errorf("nobody said what to answer to the query %q", FirstLine(q.Text))
		by = func(Query) Answer { return Answer{Error: &NoSuchObject} }
	}
	a := by(q)
	types := typesOf(a.Columns, a.Rows)
	if len(types) > 0 {
		r.add(columns(a.Columns, types))
	}
	for _, row := range a.Rows {
		token, err := rowToken(types, row)
		if err != nil {
			return fmt.Errorf("answer to %q: %w", FirstLine(q.Text), err)
		}
		r.add(token)
		if err := r.flush(false); err != nil {
			return err
		}
	}
	if a.Then != None {
		return s.fail(a.Then, conn, r, asked)
	}
	if a.Error != nil {
		r.add(a.Error.token(), done(doneError, 0))
	} else {
		r.add(done(doneCount, len(a.Rows)))
	}
	return r.flush(true)
}

// split parts the lines of settings that a statement begins with from the rest.
func split(text string) (settings, rest string) {
	for rest = text; strings.HasPrefix(rest, "SET "); {
		line, further, _ := strings.Cut(rest, "\n")
		settings, rest = settings+line+"\n", further
	}
	return settings, rest
}

// fail ends an answer in the middle.
func (s *Server) fail(fault Fault, conn net.Conn, r *reply, asked <-chan message) error {
	if err := r.push(); err != nil {
		return err
	}
	switch fault {
	case Cut:
		return io.EOF
	case Nonsense:
		_, err := io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		return err
	case Stall:
		m, ok := <-asked
		if !ok || m.kind != packetAttention {
			return io.EOF
		}
		return s.confirm(r)
	default:
		for range asked { // until the client has had enough
		}
		return io.EOF
	}
}

// confirm says that the rest of an answer will not come.
func (s *Server) confirm(r *reply) error {
	s.mu.Lock()
	s.attentions++
	s.mu.Unlock()
	r.add(done(doneAttention, 0))
	return r.flush(true)
}

// statement is the text of a batch, or the first parameter of sp_executesql.
func statement(m message) (string, error) {
	if len(m.body) < 4 {
		return "", errors.New("a query has no headers")
	}
	headers := int(binary.LittleEndian.Uint32(m.body))
	if headers > len(m.body) {
		return "", errors.New("the headers of a query end beyond it")
	}
	body := m.body[headers:]
	switch m.kind {
	case packetBatch:
		return fromUCS2(body), nil
	case packetRPC:
		return executed(body)
	}
	return "", fmt.Errorf("packets of the kind %d are not understood", m.kind)
}

// executed reads a call of sp_executesql (2.2.6.6): its number, flags, and of the first
// parameter a name, flags, the type and the value.
func executed(body []byte) (string, error) {
	const sp, flags, executesql, typeSize = 4, 2, 10, 1 + 2 + 5
	nvarchar := byte(0xE7)
	if len(body) < sp+flags+1 || binary.LittleEndian.Uint16(body) != 0xFFFF || binary.LittleEndian.Uint16(body[2:]) != executesql {
		return "", errors.New("a procedure was called that is not sp_executesql")
	}
	body = body[sp+flags:]
	name := 1 + 2*int(body[0])
	if len(body) < name+1+typeSize+8 || body[name+1] != nvarchar {
		return "", errors.New("sp_executesql was called without a statement")
	}
	declared := binary.LittleEndian.Uint16(body[name+2:])
	body = body[name+1+typeSize:]
	if declared == 0xFFFF { // nvarchar(max): a length, and pieces
		size := int(binary.LittleEndian.Uint32(body[8:]))
		return fromUCS2(body[12 : 12+size]), nil
	}
	size := int(binary.LittleEndian.Uint16(body))
	return fromUCS2(body[2 : 2+size]), nil
}
