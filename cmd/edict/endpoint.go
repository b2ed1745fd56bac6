package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/value"
)

// endpoint is the address of a running controller, and what to show it.
type endpoint struct {
	address string
	// token and caFile are for an address that is secured.
	token, caFile string
	insecure      bool
}

func (e *endpoint) register(cmd *cobra.Command, example string) {
	flags := cmd.Flags()
	flags.StringVar(&e.address, "address", "", "the address of a running controller, such as "+example)
	flags.StringVar(&e.token, "token", "", "the bearer token to show it")
	flags.StringVar(&e.caFile, "ca-file", "", "the authorities that its certificate may come from (default: the system's)")
	flags.BoolVar(&e.insecure, "insecure-skip-tls-verify", false, "accept any certificate, such as a self-signed one")
}

const (
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 64 << 20
	// maxReason bounds what is shown of one that is none.
	maxReason = 256
)

// refusal is an answer that is not what was asked for.
type refusal struct {
	address, status, reason string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s answers %s: %s", r.address, r.status, r.reason)
}

// get asks a controller for a path.
func (e *endpoint) get(ctx context.Context, path string) ([]byte, error) {
	if err := e.valid(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(e.address, "/")+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(&rest.Config{BearerToken: e.token, TLSClientConfig: rest.TLSClientConfig{Insecure: e.insecure, CAFile: e.caFile}})
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, &refusal{
			address: e.address, status: response.Status,
			reason: value.Cut(strings.TrimSpace(string(body)), maxReason),
		}
	}
	return body, nil
}

// valid reports as an error that the address is not that of a server.
func (e *endpoint) valid() error {
	u, err := url.Parse(e.address)
	switch {
	case !strings.Contains(e.address, "://"):
		return fmt.Errorf("--address %s has no scheme: give it as http://%s, or with https:// if it is secured", e.address, e.address)
	case err != nil:
		return fmt.Errorf("--address cannot be read: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("--address %s is not that of a controller, such as http://localhost:4273", e.address)
	default:
		return nil
	}
}
