package tracing

import (
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// TestExport: a collector receives the spans, also those that are left when the
// process stops.
func TestExport(t *testing.T) {
	var mu sync.Mutex
	var names []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := read(r)
		var request collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range request.ResourceSpans {
			for _, a := range resource.Resource.Attributes {
				names = append(names, a.Key+"="+a.Value.GetStringValue())
			}
			for _, span := range resource.ScopeSpans[0].Spans {
				names = append(names, span.Name)
			}
		}
	}))
	defer server.Close()
	e, err := New(t.Context(), server.URL, "v1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_, span := e.Tracer().Start(t.Context(), "reconcile")
	span.End()
	e.Stop()
	mu.Lock()
	defer mu.Unlock()
	got := strings.Join(names, " ")
	for _, want := range []string{"reconcile", "service.name=edict", "service.version=v1"} {
		if !strings.Contains(got, want) {
			t.Errorf("the collector has received %q, not %s", got, want)
		}
	}
}

func read(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	unzipped, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unzipped)
}

// TestEndpoint: where spans are sent, and what is no endpoint.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"http://collector:4318":            "http://collector:4318/v1/traces",
		"https://collector/otlp/":          "https://collector/otlp/v1/traces",
		"https://collector/otlp/v1/traces": "https://collector/otlp/v1/traces",
		"collector:4318":                   "",
		"grpc://collector:4317":            "",
		"http://":                          "",
		"%":                                "",
	} {
		got, err := parse(endpoint)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", endpoint, got, err, want)
		}
	}
}

// TestOff: what is off makes no spans.
func TestOff(t *testing.T) {
	t.Parallel()
	var e *Exporter
	if e.Tracer() != nil {
		t.Error("it makes spans")
	}
	e.Stop()
}
