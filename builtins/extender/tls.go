package extender

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// newTLS returns the settings of the connections, and an error that names the
// file when one cannot be used.
func newTLS(c Config) (*tls.Config, error) {
	settings := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         c.ServerName,
		InsecureSkipVerify: c.InsecureSkipVerify, //nolint:gosec // off unless somebody asks for it, who is told what it means
	}
	if c.CAFile != "" {
		authorities, err := readAuthorities(c.CAFile)
		if err != nil {
			return nil, err
		}
		settings.RootCAs = authorities
	}
	if c.CertFile == "" && c.KeyFile == "" {
		return settings, nil
	}
	return withClientCertificate(settings, c.CertFile, c.KeyFile)
}

func readAuthorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the authorities of the scheduler extender: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("reading the authorities of the scheduler extender: no certificate in %s", file)
	}
	return authorities, nil
}

// withClientCertificate reads the pair once, so that a wrong path is known at
// the start, and again whenever a server asks for it.
func withClientCertificate(settings *tls.Config, certFile, keyFile string) (*tls.Config, error) {
	if certFile == "" || keyFile == "" {
		return nil, errors.New("the scheduler extender's client certificate needs both a certificate and a key")
	}
	read := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("reading the client certificate %s and its key %s: %w", certFile, keyFile, err)
		}
		return &pair, nil
	}
	if _, err := read(); err != nil {
		return nil, err
	}
	settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := read()
		if err != nil {
			return nil, &certificateError{err}
		}
		return pair, nil
	}
	return settings, nil
}

// certificateError is a client certificate that cannot be read any more.
type certificateError struct{ error }

func (e *certificateError) Unwrap() error { return e.error }
