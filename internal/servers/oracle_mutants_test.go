package servers_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"muster/internal/servers"
	"muster/internal/servers/tnstest"
	"muster/internal/testing/longtest"
)

// TestLongNoAnswerOfAnOracleCrashesMuster: a login and an answer with up to four changed bytes. Whatever the
// driver makes of them, an error of ours comes out, in time.
func TestLongNoAnswerOfAnOracleCrashesMuster(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	l := tnstest.Start(t, tnstest.Options{})
	l.Answer("SELECT 1", tnstest.Answer{Columns: 3, Numbers: []int{1}, Rows: [][]string{{"a", "12.5", "😀"}, {"", "", "b"}, {"x", "-3", ""}}})
	outcomes := make(map[string]int)
	for n := range uint64(1500) {
		outcomes[mutant(t, l, rand.New(rand.NewPCG(n, 1)))]++ //nolint:gosec // G404: the same every time
	}
	if outcomes["fine"] == 0 || outcomes["not reached"] < 250 || outcomes["no answer"] < 25 {
		t.Errorf("the bytes are not where they matter: %v", outcomes)
	}
}

func mutant(t *testing.T, l *tnstest.Listener, r *rand.Rand) string {
	t.Helper()
	front, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	go pass(front, l.Port(), r)
	u, err := url.Parse(l.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	u.Host = front.Addr().String()
	target := oracle(t, new(servers.Reach), u.String())
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	s, err := target.Open(ctx, target.Database, 50*time.Millisecond)
	var unreached *servers.ConnectionError
	switch {
	case errors.As(err, &unreached):
		return "not reached"
	case err != nil:
		t.Errorf("not a connection error: %v", err)
		return "not reached"
	}
	_, err = servers.Query(ctx, s, 3, "SELECT 1")
	s.Close(ctx)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if err != nil {
		return "no answer"
	}
	return "fine"
}

// pass is between a client and the listener, and changes some bytes of what that says.
func pass(front net.Listener, port int, r *rand.Rand) {
	client, err := front.Accept()
	if err != nil {
		return
	}
	defer client.Close()
	server, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	from := r.IntN(600)
	to := from + 1 + r.IntN(4)
	buffer := make([]byte, 4096)
	for at := 0; ; {
		n, err := server.Read(buffer)
		for i := range n {
			if at+i >= from && at+i < to {
				buffer[i] = byte(r.IntN(256))
			}
		}
		at += n
		if _, writeErr := client.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}
