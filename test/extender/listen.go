package extender

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// Running is a server that listens in this process.
type Running struct {
	// URL is its address: https://127.0.0.1:PORT.
	URL string
	// CAFile, ClientCertFile and ClientKeyFile are what a client needs, PEM;
	// empty when the server was started with files of somebody else.
	CAFile, ClientCertFile, ClientKeyFile string
	// Server is what answers.
	Server *Server

	http *http.Server
	stop context.CancelFunc
	done chan struct{}
}

// TLS names the PEM files that a server listens with.
type TLS struct {
	CertFile, KeyFile string
	// ClientCAFile holds the authorities of the clients' certificates. Clients
	// need no certificate when it is empty.
	ClientCAFile string
}

// ListenTLS generates certificates in a folder and serves an empty server with
// them on a free port. Clients must have the generated certificate. Close ends
// it.
func ListenTLS(dir string) (*Running, error) {
	return ListenGenerated(dir, "127.0.0.1:0", New(Config{}))
}

// ListenGenerated is ListenTLS with an address and a server of the caller.
func ListenGenerated(dir, address string, server *Server) (*Running, error) {
	files, err := GenerateCertificates(dir)
	if err != nil {
		return nil, err
	}
	running, err := Listen(address, TLS{files.ServerCert, files.ServerKey, files.CA}, server)
	if err != nil {
		return nil, err
	}
	running.CAFile, running.ClientCertFile, running.ClientKeyFile = files.CA, files.ClientCert, files.ClientKey
	return running, nil
}

// Listen serves over HTTPS at an address like 127.0.0.1:0 until Close.
func Listen(address string, files TLS, server *Server) (*Running, error) {
	settings, err := files.load()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return serve(tls.NewListener(listener, settings), server), nil
}

// serve serves on a listener. Its end cancels the requests that a fault holds.
func serve(listener net.Listener, server *Server) *Running {
	ctx, stop := context.WithCancel(context.Background())
	running := &Running{
		URL: "https://" + listener.Addr().String(), Server: server, stop: stop, done: make(chan struct{}),
		http: &http.Server{
			Handler: server, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx },
			ErrorLog: log.New(io.Discard, "", 0), // clients that are not trusted are part of the tests
		},
	}
	go func() {
		defer close(running.done)
		_ = running.http.Serve(listener) // until Close
	}()
	return running
}

// closeTimeout is how long Close waits for requests under way.
const closeTimeout = 5 * time.Second

// Close stops listening, ends the requests under way and waits until nothing
// of the server is left.
func (r *Running) Close() error {
	r.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := r.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		// A client dials ahead: on a connection on which nothing was asked yet the
		// server waits for five seconds.
		err = nil
	}
	err = errors.Join(err, r.http.Close())
	<-r.done
	return err
}

func (t TLS) load() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("reading the server's certificate: %w", err)
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if t.ClientCAFile == "" {
		return settings, nil
	}
	text, err := os.ReadFile(t.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("reading the clients' authorities: %w", err)
	}
	settings.ClientCAs, settings.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !settings.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("no certificate in %s", t.ClientCAFile)
	}
	return settings, nil
}
