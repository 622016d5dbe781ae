package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope names our spans' maker.
const scope = "muster"

type requestIDKey struct{}

// WithRequestID marks everything under ctx as part of a request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the id of the request that ctx belongs to, or led to the job that
// it belongs to; empty: none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// requestIDField is the key of the request's id where a job carries it, beside
// the fields of W3C Trace Context.
const requestIDField = "requestId"

// Carry returns metadata with what a job must know of the request or job that
// inserts it, in the fields that Resume reads. It does not change metadata.
func Carry(ctx context.Context, metadata map[string]string) map[string]string {
	id, span := RequestID(ctx), trace.SpanContextFromContext(ctx)
	if id == "" && !span.IsValid() {
		return metadata
	}
	carried := maps.Clone(metadata)
	if carried == nil {
		carried = map[string]string{}
	}
	if id != "" {
		carried[requestIDField] = id
	}
	propagation.TraceContext{}.Inject(ctx, propagation.MapCarrier(carried))
	return carried
}

// Resume is ctx with the request that led to a job, and the place in its trace.
func Resume(ctx context.Context, metadata map[string]string) (context.Context, trace.SpanContext) {
	if id := metadata[requestIDField]; id != "" {
		ctx = WithRequestID(ctx, id)
	}
	from := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier(metadata))
	return ctx, trace.SpanContextFromContext(from)
}

// Step makes a step of what ctx is doing a span, where that is traced; end it
// with what the step came to. Names and attributes must not say who it is for.
func Step(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, func(error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, func(error) {}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithAttributes(attributes...))
	return ctx, func(err error) { End(span, err) }
}

// End ends a span. Of an error it keeps that there was one: its text may name
// what no trace may hold.
func End(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// LogHandler adds to each record what its context knows of the request or job
// that it belongs to: requestId, and traceId where traces are exported or the
// caller named one.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("requestId", id))
	}
	if part := trace.SpanContextFromContext(ctx); part.HasTraceID() {
		r.AddAttrs(slog.String("traceId", part.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }

// Queries makes spans of statements, with their text and never their parameters. It traces only
// those of a request or a job: the process's own statements, every second, would bury them. Without a tracer
// it is nil.
func Queries(tracer trace.Tracer) pgx.QueryTracer {
	if tracer == nil {
		return nil
	}
	return queries{tracer}
}

type queries struct{ tracer trace.Tracer }

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

// queryKey marks a context whose span is a statement's: a span that was not begun must not be
// ended.
type queryKey struct{}

// TraceQueryEnd ends the span of a statement. An error's text quotes values; its
// SQLSTATE does not.
func (q queries) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	if ctx.Value(queryKey{}) == nil {
		return
	}
	span := trace.SpanFromContext(ctx)
	var refused *pgconn.PgError
	if errors.As(data.Err, &refused) {
		span.SetAttributes(attribute.String("db.response.status_code", refused.Code))
	}
	End(span, data.Err)
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
