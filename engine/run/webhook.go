package run

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/edict-dev/edict/engine/observe"
)

// Webhook says how ConfigMaps are judged before they are stored.
type Webhook struct {
	// Address is where the API server asks.
	Address string
	// CertDir holds tls.crt and tls.key, which somebody else renews.
	CertDir string
	// CertSecret, instead of CertDir, names the Secret in the namespace of the
	// policies that holds an authority of the controller's own, made and renewed
	// by it. Configuration is the ValidatingWebhookConfiguration that is told of
	// it, DNSNames are the names in the certificates that it signs.
	CertSecret, Configuration string
	DNSNames                  []string
}

// WebhookPath is where ConfigMaps are judged.
const WebhookPath = "/validate"

// webhookRetry is after how long a server that could not be started is tried
// again.
const webhookRetry = 2 * time.Second

// certificateRetry is how often a certificate is looked for that is being made.
const certificateRetry = 100 * time.Millisecond

// admit serves the webhook until the context ends. What goes wrong with it is
// told and disturbs nothing else: without it, a bad edit is refused a moment
// later.
func (p *process) admit(ctx context.Context, client kubernetes.Interface) error {
	host, port, err := net.SplitHostPort(p.Webhook.Address)
	if err != nil {
		return fmt.Errorf("the address of the webhook: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("the port of the webhook: %w", err)
	}
	options := webhook.Options{Host: host, Port: number, CertDir: p.Webhook.CertDir}
	certified := func() bool { return true }
	if p.Webhook.CertSecret != "" {
		source := p.certificates(ctx, client)
		options.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.GetCertificate = source.GetCertificate }}
		certified = source.Healthy
	}
	p.wg.Go(func() { p.serveWebhook(ctx, options, certified) })
	p.wg.Go(func() { p.watchServing(ctx) })
	return nil
}

// servingInterval is how often it is looked whether the webhook answers.
const servingInterval = 5 * time.Second

// watchServing measures whether the webhook answers, until the context ends.
func (p *process) watchServing(ctx context.Context) {
	ticks := time.NewTicker(servingInterval)
	defer ticks.Stop()
	for {
		serves := 0.0
		if checker := p.webhookReady.Load(); checker != nil && (*checker)(&http.Request{}) == nil {
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

// serveWebhook serves, once there is a certificate.
func (p *process) serveWebhook(ctx context.Context, options webhook.Options, certified func() bool) {
	for ctx.Err() == nil {
		pause := certificateRetry
		if certified() {
			server := webhook.NewServer(options)
			server.Register(WebhookPath, bounded(&webhook.Admission{Handler: newAdmission(p)}, maxRequests))
			checker := server.StartedChecker()
			p.webhookReady.Store(&checker)
			if err := server.Start(ctx); err != nil {
				p.Log.Error("the webhook cannot be served, and will be tried again", "error", err.Error())
			}
			pause = webhookRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// maxRequests is how many requests are read at once, of up to 7 MiB each:
// whoever reaches the port may send them.
const maxRequests = 8

// bounded lets so many requests in at once, for as long as they are waited for;
// the wait counts.
func bounded(next http.Handler, atMost int) http.Handler {
	slots := make(chan struct{}, atMost)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := patient(r)
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-ctx.Done():
			http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
			return
		}
		if until, ok := ctx.Deadline(); ok {
			_ = http.NewResponseController(w).SetReadDeadline(until) // recorders of tests have none
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// servez says whether this process does its part: the webhook answers, the
// ConfigMaps are followed and, if it leads, the policies run.
func (p *process) servez(w http.ResponseWriter, r *http.Request) {
	text := "ok"
	var checker *healthz.Checker
	switch {
	case p.shelf != nil && !p.shelf.ready():
		text = "the ConfigMaps are not read yet"
	case p.Webhook != nil && p.webhookReady.Load() == nil:
		text = "the webhook is not served yet"
	case p.leader.Load() && !p.term.Load().allReady():
		text = "policies have not seen their first lists yet"
	default:
		checker = p.webhookReady.Load()
	}
	if checker != nil {
		if err := (*checker)(r); err != nil {
			text = "the webhook: " + err.Error()
		}
	}
	answer(w, text == "ok", text, text)
}

// reviewed counts a review.
func reviewed(result string) { observe.Reviews.WithLabelValues(result).Inc() }
