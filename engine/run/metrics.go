package run

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	processmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/edict-dev/edict/engine/live"
)

// MetricsPath is where metrics are served.
const MetricsPath = "/metrics"

// serveMetrics serves the metrics of the engine and the policies, and those of the process:
// the Go runtime, memory and files, work queues and requests to the API server. A
// client that takes OpenMetrics gets exemplars too.
func (p *process) serveMetrics() http.Handler {
	all := prometheus.Gatherers{p.options.Registry, processmetrics.Registry}
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

// metricsOptions returns the options of the server of metrics and shadow reports. If it is
// secured, it serves decisions, too, and each path needs a token whose user may get it.
func (p *process) metricsOptions() metricsserver.Options {
	o := &p.options
	out := metricsserver.Options{
		BindAddress: cmp.Or(o.MetricsAddress, "0"), SecureServing: o.MetricsSecure,
		// In a folder that does not exist there is no certificate: it is self-signed.
		CertDir: cmp.Or(o.MetricsCertDir, filepath.Join(os.TempDir(), uuid.NewString())),
		TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.MinVersion, c.NextProtos = tls.VersionTLS13, []string{"http/1.1"} }},
		ExtraHandlers: map[string]http.Handler{
			// This pattern precedes the server's own, which serves only the metrics of the
			// libraries, without exemplars.
			"GET " + MetricsPath: p.serveMetrics(),
			ShadowPath:           http.HandlerFunc(p.shadowz),
		},
	}
	if o.MetricsSecure {
		out.FilterProvider = filters.WithAuthenticationAndAuthorization
		for _, path := range []string{live.Path, live.CapturePath, live.AnswersPath, live.WritesPath} {
			out.ExtraHandlers[path] = p.decisions()
		}
	}
	return out
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
