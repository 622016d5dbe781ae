package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"muster/internal/process/telemetry"
)

func TestAJobCarriesItsRequest(t *testing.T) {
	t.Parallel()
	state, err := trace.ParseTraceState("vendor=x")
	if err != nil {
		t.Fatal(err)
	}
	caller := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state,
	})
	ctx := telemetry.WithRequestID(trace.ContextWithSpanContext(t.Context(), caller), "r-1")
	own := map[string]string{"own": "kept"}
	carried := telemetry.Carry(ctx, own)
	if len(own) != 1 || carried["own"] != "kept" {
		t.Errorf("the caller's map is %v, the job's %v", own, carried)
	}
	resumed, from := telemetry.Resume(context.Background(), carried)
	if telemetry.RequestID(resumed) != "r-1" || from.TraceID() != caller.TraceID() || from.SpanID() != caller.SpanID() || from.TraceState().String() != "vendor=x" {
		t.Errorf("carried %v, resumed %s and %v", carried, telemetry.RequestID(resumed), from)
	}
	if trace.SpanContextFromContext(resumed).IsValid() {
		t.Error("the job goes on in the request's trace")
	}
	if got := telemetry.Carry(context.Background(), nil); got != nil {
		t.Errorf("a job of nobody's request carries %v", got)
	}
}

func TestAStepIsASpanUnderATracedParent(t *testing.T) {
	t.Parallel()
	ctx, end := telemetry.Step(t.Context(), "step")
	end(nil)
	if ctx != t.Context() {
		t.Error("a step of what is not traced costs a context")
	}
	recorded := tracetest.NewSpanRecorder()
	parent, span := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorded)).Tracer("t").Start(t.Context(), "parent")
	_, end = telemetry.Step(parent, "step")
	end(errors.New("ana@acme.example is unknown"))
	span.End()
	step := recorded.Ended()[0]
	if step.Name() != "step" || step.Parent().SpanID() != span.SpanContext().SpanID() || step.Status().Code.String() != "Error" {
		t.Errorf("the step is %v", step)
	}
	if strings.Contains(fmt.Sprintf("%+v", tracetest.SpanStubFromReadOnlySpan(step)), "acme") {
		t.Error("a span holds the text of an error")
	}
}

func TestLogLinesNameTheirRequest(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	log := slog.New(telemetry.LogHandler(slog.NewTextHandler(&said, nil))).With("worker", "w").WithGroup("g")
	log.InfoContext(telemetry.WithRequestID(t.Context(), "r-1"), "inside")
	log.Info("outside")
	if !strings.Contains(said.String(), "worker=w") || strings.Count(said.String(), "requestId=r-1") != 1 {
		t.Errorf("the log says\n%s", said.String())
	}
}
