package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"time"
)

// prober asks components whether they serve.
type prober struct{ client *http.Client }

// newProber makes a prober that is the administrator. It keeps no connection:
// an idle one is a goroutine that outlives Stop.
func newProber(authority []byte, admin pair) (*prober, error) {
	certificate, err := tls.X509KeyPair(admin.certificate, admin.key)
	if err != nil {
		return nil, fmt.Errorf("loading the administrator's key: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return &prober{client: &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}},
		},
	}}, nil
}

// await asks until url answers 200. When it never does, the error shows the end
// of the component's log.
func (p *prober) await(ctx context.Context, child *process, url string) error {
	for {
		err := p.get(ctx, url)
		if err == nil {
			return nil
		}
		select {
		case <-child.ended:
			return fmt.Errorf("%s ended: %w; its last words:\n%s", child.name, child.failure, child.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready (%w): %w; its last words:\n%s",
				child.name, context.Cause(ctx), err, child.tail())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (p *prober) get(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 2000))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", url, response.Status, body)
	}
	return err
}
