// Package tracing exports the traces of reconciliations by OTLP over HTTP.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
)

const (
	// scope is the name of the instrumentation.
	scope = "github.com/edict-dev/edict"
	// flushTimeout is how long a stop waits for spans that are not exported yet.
	flushTimeout = 5 * time.Second
	// errorEvery is how often an error of the exporter is logged.
	errorEvery = time.Minute
	// tracesPath is what OTLP appends to a base URL.
	tracesPath = "/v1/traces"
)

// Exporter makes traces, and exports them in the background. Spans that the collector
// does not take in time are dropped.
type Exporter struct {
	provider *sdktrace.TracerProvider
	log      *slog.Logger
}

// New returns an exporter to the base URL of an OTLP collector, http or https. Headers,
// certificates, sampling and the limits of batches are those of the standard variables
// OTEL_EXPORTER_OTLP_*, OTEL_TRACES_SAMPLER and OTEL_BSP_*. Stop has to be called.
func New(ctx context.Context, endpoint, version string, log *slog.Logger) (*Exporter, error) {
	target, err := parse(endpoint)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(target))
	if err != nil {
		return nil, fmt.Errorf("exporting traces to %s: %w", endpoint, err)
	}
	logged := rate.Sometimes{Interval: errorEvery}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		logged.Do(func() { log.Warn("traces are not exported", "endpoint", endpoint, "error", err.Error()) })
	}))
	return &Exporter{provider: provider(ctx, version, sdktrace.WithBatcher(exporter)), log: log}, nil
}

// parse returns the URL that spans are sent to.
func parse(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err == nil && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		err = errors.New("want a URL such as http://collector:4318")
	}
	if err != nil {
		return "", fmt.Errorf("the endpoint for traces, %q: %w", endpoint, err)
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	return u.String(), nil
}

func provider(ctx context.Context, version string, options ...sdktrace.TracerProviderOption) *sdktrace.TracerProvider {
	attributes := []attribute.KeyValue{attribute.String("service.name", "edict"), attribute.String("service.version", version)}
	if host, err := os.Hostname(); err == nil {
		attributes = append(attributes, attribute.String("service.instance.id", host))
	}
	described, err := resource.New(ctx, resource.WithAttributes(attributes...), resource.WithFromEnv())
	if err != nil { // OTEL_RESOURCE_ATTRIBUTES is malformed; the rest counts
		otel.Handle(err)
	}
	return sdktrace.NewTracerProvider(append(options, sdktrace.WithResource(described))...)
}

// Tracer returns what makes spans; nil, which makes none, for a nil exporter.
func (e *Exporter) Tracer() trace.Tracer {
	if e == nil {
		return nil
	}
	return e.provider.Tracer(scope)
}

// Stop exports what is left.
func (e *Exporter) Stop() {
	if e == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil {
		e.log.Warn("the last traces were not exported", "error", err.Error())
	}
}
