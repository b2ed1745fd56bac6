package run

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"path/filepath"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	processmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
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

// servePprof serves profiles on a loopback address.
func (e *endpoints) servePprof(ctx context.Context) error {
	if e.options.PprofAddress == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(e.options.PprofAddress)
	if err != nil {
		return fmt.Errorf("the address of profiles: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
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
