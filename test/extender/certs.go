package extender

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Certificates are the files that a server and its clients need, all PEM.
type Certificates struct {
	CA                    string
	ServerCert, ServerKey string
	ClientCert, ClientKey string
}

// validity is how long generated certificates are valid.
const validity = 24 * time.Hour

// GenerateCertificates writes an authority's certificate, ca.crt, and what it
// signs: server.crt and server.key for 127.0.0.1 and localhost, client.crt and
// client.key. They are valid for a day. The folder is made if needed, and
// files in it are replaced.
func GenerateCertificates(dir string) (*Certificates, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	files := &Certificates{in("ca.crt"), in("server.crt"), in("server.key"), in("client.crt"), in("client.key")}
	if err := writePEM(files.CA, "CERTIFICATE", authority.certificate.Raw); err != nil {
		return nil, err
	}
	if err := authority.issue(files.ServerCert, files.ServerKey, serverTemplate()); err != nil {
		return nil, err
	}
	return files, authority.issue(files.ClientCert, files.ClientKey, clientTemplate())
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := newTemplate("extender authority")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(signed)
	return &authority{certificate, key}, err
}

// issue writes a certificate and its key.
func (a *authority) issue(certFile, keyFile string, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(keyFile, "PRIVATE KEY", private); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", signed)
}

func writePEM(file, kind string, content []byte) error {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("writing a certificate: %w", err)
	}
	return nil
}

// newTemplate begins a minute ago, for clocks that differ a little.
func newTemplate(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // it never fails
	begin := time.Now().Add(-time.Minute)
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: begin, NotAfter: begin.Add(validity),
	}
}

func serverTemplate() *x509.Certificate {
	template := newTemplate("extender")
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IPAddresses, template.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	return template
}

func clientTemplate() *x509.Certificate {
	template := newTemplate("extender client")
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return template
}
