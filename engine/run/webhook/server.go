// Package webhook serves the validating webhook that checks PolicySets and their ConfigMaps
// before they are stored.
package webhook

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/certs"
	"github.com/edict-dev/edict/engine/run/check"
)

// Config is how the webhook is served.
type Config struct {
	// Address is where the API server calls it.
	Address string
	// CertDir holds tls.crt and tls.key, which another program renews.
	CertDir string
	// CertSecret, instead of CertDir, names the Secret in the namespace of the policies
	// with the controller's own certificate authority, which it makes and renews.
	// Configuration is the ValidatingWebhookConfiguration whose caBundle is set;
	// DNSNames are the names in the certificates.
	CertSecret, Configuration string
	DNSNames                  []string
	// ClientCA is a file with the authorities of client certificates: that of the API
	// server's client certificate for webhooks. "" needs no client certificate.
	ClientCA string
}

// Authenticates reports whether only clients with a certificate of an authority are
// answered. Otherwise everybody who reaches the port is.
func (c *Config) Authenticates() bool { return c.ClientCA != "" }

// Options configure the webhook.
type Options struct {
	Config Config
	Client kubernetes.Interface
	Log    *slog.Logger
	// Sets reads PolicySets and ConfigMaps from a cache.
	Sets client.Reader
	// Namespace is the namespace of the PolicySets.
	Namespace string
	Checker   *check.Checker
	// Overrides are values that take precedence over those of sets.
	Overrides compile.Overrides
	// TryOut evaluates an edit of a policy that runs; nil means that no error is known.
	// Its errors say what is in objects, and that there is one is an answer too, so it is
	// called only for clients that are authenticated (Config.Authenticates).
	TryOut func(ctx context.Context, p *plan.Policy) error
}

// Server serves the webhook.
type Server struct {
	options Options
	// Check returns an error if the webhook does not answer.
	Check healthz.Checker
}

// New returns a server that does not serve yet.
func New(o Options) *Server { return &Server{options: o} }

// Path is the path of the webhook.
const Path = "/validate"

// AddTo has a manager serve the webhook. What renews the certificates ends with the context;
// background runs it.
func (s *Server) AddTo(ctx context.Context, m manager.Manager, background func(func())) error {
	c := &s.options.Config
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil {
		return fmt.Errorf("the address of the webhook: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("the port of the webhook: %w", err)
	}
	secure, err := c.secure()
	if err != nil {
		return err
	}
	options := ctrlwebhook.Options{Host: host, Port: number, CertDir: c.CertDir, TLSOpts: []func(*tls.Config){secure}}
	ready := func() bool { return true }
	if c.CertSecret != "" {
		source := certs.New(certs.Options{
			Client: s.options.Client, Log: s.options.Log, Namespace: s.options.Namespace, Secret: c.CertSecret,
			Configuration: c.Configuration, DNSNames: c.DNSNames,
		})
		background(func() { source.Run(ctx) })
		options.TLSOpts = append(options.TLSOpts, func(c *tls.Config) { c.GetCertificate = source.Certificate })
		ready = source.Ready
	}
	server := certified{ctrlwebhook.NewServer(options), ready, s.options.Log}
	server.Register(Path, limit(&ctrlwebhook.Admission{Handler: newAdmission(s.options)}, maxRequests, maxOfHost))
	s.Check = server.StartedChecker()
	background(func() { s.measure(ctx) })
	return m.Add(server)
}

// certified is a server that starts once there is a certificate, and again after an error. The
// policies run without it: a bad edit is refused when it is to take effect.
type certified struct {
	ctrlwebhook.Server
	ready func() bool
	log   *slog.Logger
}

// certificateRetry is the interval between checks for the first certificate.
const certificateRetry = 100 * time.Millisecond

// restartInterval is the interval between attempts to start the server.
const restartInterval = 2 * time.Second

// Start implements manager.Runnable.
func (c certified) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		pause := certificateRetry
		if c.ready() {
			pause = restartInterval
			if err := c.Server.Start(ctx); err != nil {
				c.log.Error("the webhook cannot be served, and will be tried again", "error", err.Error())
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// secure returns a function that sets the requirements of TLS connections.
func (c *Config) secure() (func(*tls.Config), error) {
	if !c.Authenticates() {
		return func(t *tls.Config) { t.MinVersion = tls.VersionTLS13 }, nil
	}
	text, err := os.ReadFile(c.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("the authorities of the webhook's clients: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the authorities of the webhook's clients: %s has no certificate in PEM", c.ClientCA)
	}
	return func(t *tls.Config) {
		t.MinVersion, t.ClientAuth, t.ClientCAs = tls.VersionTLS13, tls.RequireAndVerifyClientCert, authorities
	}, nil
}

// servingInterval is the interval between checks whether the webhook answers.
const servingInterval = 5 * time.Second

// measure sets the metric whether the webhook answers, until the context ends.
func (s *Server) measure(ctx context.Context) {
	ticks := time.NewTicker(servingInterval)
	defer ticks.Stop()
	for {
		serves := 0.0
		if s.Check(&http.Request{}) == nil {
			serves = 1
		}
		observe.WebhookServing.Set(serves)
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// reviewed counts a review.
func reviewed(result string) { observe.Reviews.WithLabelValues(result).Inc() }
