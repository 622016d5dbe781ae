package telemetry

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Queries makes spans of statements, with their text and never their
// parameters. It traces those of a request or a job only: what a process asks
// by itself, every second, would bury them.
func Queries(tracer trace.Tracer) pgx.QueryTracer { return queries{tracer} }

type queries struct{ tracer trace.Tracer }

var _ pgx.QueryTracer = queries{}

// TraceQueryStart begins the span of a statement.
func (q queries) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx
	}
	operation := operationOf(data.SQL)
	ctx, _ = q.tracer.Start(ctx, operation, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("db.system.name", "postgresql"),
		attribute.String("db.operation.name", operation),
		attribute.String("db.query.text", data.SQL),
	))
	return context.WithValue(ctx, queryKey{}, true)
}

// queryKey marks a context whose span is a statement's: one that was not begun
// must not be ended.
type queryKey struct{}

// TraceQueryEnd ends the span of a statement. An error's text quotes values; its
// SQLSTATE does not.
func (q queries) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	if ctx.Value(queryKey{}) == nil {
		return
	}
	span := trace.SpanFromContext(ctx)
	if data.Err != nil {
		span.SetStatus(codes.Error, "")
		var refused *pgconn.PgError
		if errors.As(data.Err, &refused) {
			span.SetAttributes(attribute.String("db.response.status_code", refused.Code))
		}
	}
	span.End()
}

// operationOf is a statement's first word, behind the comments that ours open
// with.
func operationOf(sql string) string {
	for line := range strings.Lines(sql) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		word, _, _ := strings.Cut(line, " ")
		return strings.ToUpper(strings.TrimRight(word, ";("))
	}
	return "QUERY"
}
