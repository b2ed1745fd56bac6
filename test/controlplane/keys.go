package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// pair is a certificate and its private key, both PEM.
type pair struct{ certificate, key []byte }

// authority signs the certificates of one control plane. Elliptic curve keys,
// since RSA ones cost a good part of the start-up time.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the authority's key: %w", err)
	}
	certificate, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: "edict-test"}, key)
	if err != nil {
		return nil, fmt.Errorf("making the authority's certificate: %w", err)
	}
	return &authority{certificate: certificate, key: key}, nil
}

func (a *authority) pem() []byte { return certificatePEM(a.certificate.Raw) }

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: der})
}

// server issues a certificate for serving on 127.0.0.1.
func (a *authority) server() (pair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:    []string{"localhost", "kubernetes.default.svc"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// client issues a certificate that makes its holder the user name in groups.
func (a *authority) client(name string, groups ...string) (pair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) issue(template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("making the key of %s: %w", template.Subject.CommonName, err)
	}
	template.NotBefore = a.certificate.NotBefore
	template.NotAfter = time.Now().Add(30 * 24 * time.Hour)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("signing the certificate of %s: %w", template.Subject.CommonName, err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	return pair{certificate: certificatePEM(der), key: keyPEM}, err
}

// Names of the files that writeKeys leaves in the folder.
const (
	authorityFile      = "ca.crt"
	serverCertificate  = "server.crt"
	serverKey          = "server.key"
	serviceAccountFile = "service-account.key"
)

// writeKeys makes every key of the control plane; those that the components
// read go to files. It gives back the authority's certificate and the pair of
// the administrator.
func writeKeys(folder string) (caPEM []byte, admin pair, err error) {
	authority, err := newAuthority()
	if err != nil {
		return nil, pair{}, err
	}
	server, err := authority.server()
	if err != nil {
		return nil, pair{}, err
	}
	accounts, err := authority.client("service-accounts") // only its key is used
	if err != nil {
		return nil, pair{}, err
	}
	admin, err = authority.client("edict-test-admin", "system:masters")
	if err != nil {
		return nil, pair{}, err
	}
	files := map[string][]byte{
		authorityFile:      authority.pem(),
		serverCertificate:  server.certificate,
		serverKey:          server.key,
		serviceAccountFile: accounts.key,
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return nil, pair{}, fmt.Errorf("writing keys: %w", err)
		}
	}
	return authority.pem(), admin, nil
}
