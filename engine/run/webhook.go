package run

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/certs"
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
	// ClientCA is a file with the authorities whose certificates may ask: that of
	// the API server's client certificate for webhooks. "" lets everybody ask.
	ClientCA string
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
	secure, err := p.Webhook.secure()
	if err != nil {
		return err
	}
	options := webhook.Options{Host: host, Port: number, CertDir: p.Webhook.CertDir, TLSOpts: []func(*tls.Config){secure}}
	certified := func() bool { return true }
	if p.Webhook.CertSecret != "" {
		source := certs.New(certs.Options{
			Client: client, Log: p.Log, Namespace: p.PolicyNamespace, Secret: p.Webhook.CertSecret,
			Configuration: p.Webhook.Configuration, DNSNames: p.Webhook.DNSNames,
		})
		p.wg.Go(func() { source.Run(ctx) })
		options.TLSOpts = append(options.TLSOpts, func(c *tls.Config) { c.GetCertificate = source.Certificate })
		certified = source.Ready
	}
	p.wg.Go(func() { p.serveWebhook(ctx, options, certified) })
	p.wg.Go(func() { p.watchServing(ctx) })
	return nil
}

// secure returns what the webhook wants of connections.
func (w *Webhook) secure() (func(*tls.Config), error) {
	if w.ClientCA == "" {
		return func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }, nil
	}
	text, err := os.ReadFile(w.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("the authorities of the webhook's clients: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the authorities of the webhook's clients: %s has no certificate in PEM", w.ClientCA)
	}
	return func(c *tls.Config) {
		c.MinVersion, c.ClientAuth, c.ClientCAs = tls.VersionTLS13, tls.RequireAndVerifyClientCert, authorities
	}, nil
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
			server.Register(WebhookPath, bounded(&webhook.Admission{Handler: newAdmission(p)}, maxRequests, maxOfHost))
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

const (
	// maxRequests is how many requests are read at once, maxOfHost how many of them
	// may come from one address: whoever reaches the port may send them, and must
	// not keep the API server from asking.
	maxRequests, maxOfHost = 32, 16
	// maxBody is the size of a request, in bytes: two ConfigMaps of 1 MiB each,
	// written as JSON.
	maxBody = 5 << 20
	// bodyPatience is how long a request may take to arrive.
	bodyPatience = 2 * time.Second
)

// bounded lets a bounded number of requests in, for as long as they are waited
// for; the wait counts. Their bodies have to arrive soon.
func bounded(next http.Handler, total, ofHost int) http.Handler {
	doors := &doors{all: make(chan struct{}, total), ofHost: ofHost, hosts: map[string]*door{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := patient(r)
		leave, ok := doors.enter(ctx, r.RemoteAddr)
		if !ok {
			http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
			return
		}
		defer leave()
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyPatience)) // recorders of tests have none
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// doors bound requests, of one address and of all.
type doors struct {
	all    chan struct{}
	ofHost int
	mu     sync.Mutex
	hosts  map[string]*door
}

// door bounds the requests of one address; users are those that are in or wait.
type door struct {
	slots chan struct{}
	users int
}

// enter waits until a request may come in, and returns what lets it out.
func (d *doors) enter(ctx context.Context, address string) (leave func(), ok bool) {
	host, _, _ := net.SplitHostPort(address)
	own := d.of(host)
	select {
	case own.slots <- struct{}{}:
	case <-ctx.Done():
		d.forget(host, own)
		return nil, false
	}
	select {
	case d.all <- struct{}{}:
		return func() { <-d.all; <-own.slots; d.forget(host, own) }, true
	case <-ctx.Done():
		<-own.slots
		d.forget(host, own)
		return nil, false
	}
}

func (d *doors) of(host string) *door {
	d.mu.Lock()
	defer d.mu.Unlock()
	own := d.hosts[host]
	if own == nil {
		own = &door{slots: make(chan struct{}, d.ofHost)}
		d.hosts[host] = own
	}
	own.users++
	return own
}

func (d *doors) forget(host string, own *door) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(d.hosts, host)
	}
}

// servez reports whether this process does its part: the webhook answers, the
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
