package telemetry_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"muster/internal/postgres"
	"muster/internal/process/telemetry"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestStatementsAreSpansOfARequest: with their text and never a value, and only
// inside a request or job.
func TestStatementsAreSpansOfARequest(t *testing.T) {
	t.Parallel()
	if telemetry.Queries(nil) != nil {
		t.Error("without a tracer, statements are traced")
	}
	recorded := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorded)).Tracer("t")
	db, pool, err := postgres.Connect(t.Context(), pgtest.EmptyURL(t), postgres.PoolOptions{Name: "t", Tracer: telemetry.Queries(tracer)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	db.MustExec("CREATE TABLE people (email text UNIQUE)")
	if n := len(recorded.Ended()); n != 0 {
		t.Errorf("%d spans of what belongs to nothing", n)
	}

	ctx, request := tracer.Start(t.Context(), "request")
	for range 2 {
		_, err = db.ExecContext(ctx, "-- why\nINSERT INTO people VALUES ($1)", "ana@acme.example")
	}
	if err == nil {
		t.Fatal("the same row twice")
	}
	request.End()
	stubs := tracetest.SpanStubsFromReadOnlySpans(recorded.Ended())
	if len(stubs) != 3 || stubs[0].Name != "INSERT" || stubs[0].Parent.SpanID() != request.SpanContext().SpanID() {
		t.Fatalf("spans %+v", stubs)
	}
	text := fmt.Sprintf("%+v", stubs)
	if strings.Contains(text, "acme") || !strings.Contains(text, "INSERT INTO people VALUES ($1)") || !strings.Contains(text, "23505") {
		t.Errorf("spans %s", text)
	}
}
