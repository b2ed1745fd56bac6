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
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	processmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
)

// MetricsPath is where metrics are served.
const MetricsPath = "/metrics"

// metrics are those of the engine and the policies, and those of the process:
// the Go runtime, memory and files, work queues and requests to the API server.
func (p *process) metrics() http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers{p.Registry, processmetrics.Registry}, promhttp.HandlerOpts{})
}

// serveMetrics serves metrics, and beside them what policies in the shadow came
// to. Secured, both need a token of somebody who may get their path.
func (p *process) serveMetrics(ctx context.Context) error {
	handlers := map[string]http.Handler{MetricsPath: p.metrics(), ShadowPath: http.HandlerFunc(p.shadowz)}
	mux := http.NewServeMux()
	if !p.MetricsSecure || p.MetricsAddress == "" {
		for path, handler := range handlers {
			mux.Handle(path, handler)
		}
		return p.listen(ctx, p.MetricsAddress, mux, nil)
	}
	filter, err := filters.WithAuthenticationAndAuthorization(p.Config, p.http)
	if err != nil {
		return err
	}
	for path, handler := range handlers {
		if handler, err = filter(logr.FromSlogHandler(p.Log.Handler()), handler); err != nil {
			return err
		}
		mux.Handle(path, handler)
	}
	secured, err := p.metricsTLS(ctx)
	if err != nil {
		return err
	}
	return p.listen(ctx, p.MetricsAddress, mux, secured)
}

// metricsTLS serves the certificate of a folder, read again when it changes, or
// one that this process signs itself: who scrapes is known by a token, and the
// connection is private.
func (p *process) metricsTLS(ctx context.Context) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}
	if p.MetricsCertDir == "" {
		cert, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(cert, key)
		config.Certificates = []tls.Certificate{pair}
		return config, err
	}
	watcher, err := certwatcher.New(filepath.Join(p.MetricsCertDir, "tls.crt"), filepath.Join(p.MetricsCertDir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("the certificate for metrics: %w", err)
	}
	config.GetCertificate = watcher.GetCertificate
	p.wg.Go(func() {
		if err := watcher.Start(ctx); err != nil {
			p.Log.Error("the certificate for metrics is no longer followed", "error", err.Error())
		}
	})
	return config, nil
}

// servePprof serves profiles to whoever is on the same machine.
func (p *process) servePprof(ctx context.Context) error {
	if p.PprofAddress == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(p.PprofAddress)
	if err != nil {
		return fmt.Errorf("the address of profiles: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("the address of profiles, %s, must be one of the loopback, such as localhost:6060: they show what is in memory", p.PprofAddress)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return p.listen(ctx, p.PprofAddress, mux, nil)
}
