package run

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	processmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"

	"github.com/edict-dev/edict/engine/live"
)

// MetricsPath is where metrics are served.
const MetricsPath = "/metrics"

// metrics are those of the engine and the policies, and those of the process:
// the Go runtime, memory and files, work queues and requests to the API server. A
// client that takes OpenMetrics gets exemplars too.
func (e *endpoints) metrics() http.Handler {
	all := prometheus.Gatherers{e.options.Registry, processmetrics.Registry}
	text := promhttp.HandlerFor(all, promhttp.HandlerOpts{})
	open := promhttp.HandlerFor(keepingNames{all}, promhttp.HandlerOpts{EnableOpenMetrics: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if expfmt.NegotiateIncludingOpenMetrics(r.Header).FormatType() == expfmt.TypeOpenMetrics {
			open.ServeHTTP(w, r)
			return
		}
		text.ServeHTTP(w, r)
	})
}

// serveMetrics serves metrics and shadow reports. Secured, both need a token whose user
// may get their path.
func (e *endpoints) serveMetrics(ctx context.Context) error {
	handlers := map[string]http.Handler{MetricsPath: e.metrics(), ShadowPath: http.HandlerFunc(e.shadowz)}
	mux := http.NewServeMux()
	if !e.options.MetricsSecure || e.options.MetricsAddress == "" {
		for path, handler := range handlers {
			mux.Handle(path, handler)
		}
		return e.listen(ctx, e.options.MetricsAddress, mux, nil)
	}
	for _, path := range []string{live.Path, live.CapturePath, live.AnswersPath, live.WritesPath} {
		handlers[path] = e.decisions
	}
	filter, err := filters.WithAuthenticationAndAuthorization(e.options.Config, e.client)
	if err != nil {
		return err
	}
	for path, handler := range handlers {
		if handler, err = filter(logr.FromSlogHandler(e.options.Log.Handler()), handler); err != nil {
			return err
		}
		mux.Handle(path, handler)
	}
	secured, err := e.metricsTLS(ctx)
	if err != nil {
		return err
	}
	return e.listen(ctx, e.options.MetricsAddress, mux, secured)
}

// metricsTLS uses the certificate of a folder, read again when it changes, or a
// self-signed one: clients are authenticated by a token.
func (e *endpoints) metricsTLS(ctx context.Context) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}
	if e.options.MetricsCertDir == "" {
		cert, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(cert, key)
		config.Certificates = []tls.Certificate{pair}
		return config, err
	}
	watcher, err := certwatcher.New(filepath.Join(e.options.MetricsCertDir, "tls.crt"), filepath.Join(e.options.MetricsCertDir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("the certificate for metrics: %w", err)
	}
	config.GetCertificate = watcher.GetCertificate
	e.background(func() {
		if err := watcher.Start(ctx); err != nil {
			e.options.Log.Error("the certificate for metrics is no longer followed", "error", err.Error())
		}
	})
	return config, nil
}

// IsLoopback reports whether an address, host:port, is on the loopback.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// serveDecisions serves why the policies decided so, on a loopback address: whoever
// asks from elsewhere has to come through the API server. That an address is taken
// is no reason not to run.
func (e *endpoints) serveDecisions(ctx context.Context) error {
	address := e.options.DecisionsAddress
	if address == "" {
		return nil
	}
	if !IsLoopback(address) {
		return fmt.Errorf("the address of decisions, %s, must be one of the loopback, such as localhost:4273: they show objects", address)
	}
	if err := e.listen(ctx, address, forLoopback(e.decisions), nil); err != nil {
		e.options.Log.Warn("decisions are not served", "address", address, "error", err.Error())
	}
	return nil
}

// forLoopback refuses requests for another host than the loopback: those of a page in
// a browser that makes its own name resolve to this host.
func forLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !IsLoopback(r.Host) {
			http.Error(w, "ask for localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// servePprof serves profiles on a loopback address.
func (e *endpoints) servePprof(ctx context.Context) error {
	if e.options.PprofAddress == "" {
		return nil
	}
	if !IsLoopback(e.options.PprofAddress) {
		return fmt.Errorf("the address of profiles, %s, must be one of the loopback, such as localhost:6060: they show what is in memory", e.options.PprofAddress)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return e.listen(ctx, e.options.PprofAddress, mux, nil)
}
