package controlplane

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
)

func localURL(scheme, port string) string {
	return scheme + "://" + net.JoinHostPort("127.0.0.1", port)
}

func (c *ControlPlane) startEtcd(ctx context.Context) error {
	url := localURL("http", c.etcdPort)
	child, err := c.launch(c.binaries.Etcd, []string{
		"--data-dir=" + c.path("etcd"),
		"--listen-client-urls=" + url,
		"--advertise-client-urls=" + url,
		"--listen-peer-urls=http://127.0.0.1:0",
		"--log-level=warn",
		"--unsafe-no-fsync", // the data does not outlive the test
		"--quota-backend-bytes=8589934592",
	})
	if err != nil {
		return err
	}
	c.etcd = child
	return c.prober.await(ctx, child, url+"/health")
}

// apiServerArguments are those of an API server at a port, with etcd at another.
func (c *ControlPlane) apiServerArguments(port, etcdPort string) []string {
	arguments := []string{
		"--etcd-servers=" + localURL("http", etcdPort),
		"--bind-address=127.0.0.1",
		"--secure-port=" + port,
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // an endpoint may not be on the loopback
		"--service-cluster-ip-range=10.0.0.0/24",
		"--allow-privileged=true",
		"--authorization-mode=RBAC",
		"--client-ca-file=" + c.path(authorityFile),
		"--tls-cert-file=" + c.path(serverCertificate),
		"--tls-private-key-file=" + c.path(serverKey),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path(serviceAccountFile),
		"--service-account-signing-key-file=" + c.path(serviceAccountFile),
	}
	if !c.options.ControllerManager {
		// Nobody makes default service accounts, and this would refuse Pods without.
		arguments = append(arguments, "--disable-admission-plugins=ServiceAccount")
	}
	if c.options.AuditLog && port == c.apiPort {
		arguments = append(arguments,
			"--audit-log-path="+c.AuditLogPath(),
			"--audit-policy-file="+c.path(auditPolicyFile))
	}
	return append(arguments, c.options.APIServerArgs...)
}

// startManager waits for the first service account too: from then on Pods can
// be created.
func (c *ControlPlane) startManager(ctx context.Context) error {
	child, err := c.launch(c.binaries.ControllerManager, []string{
		"--kubeconfig=" + c.Kubeconfig(),
		"--bind-address=127.0.0.1",
		"--secure-port=" + c.managerPort,
		"--tls-cert-file=" + c.path(serverCertificate),
		"--tls-private-key-file=" + c.path(serverKey),
		"--leader-elect=false",
		"--controllers=" + strings.Join(c.options.controllers(), ","),
		"--root-ca-file=" + c.path(authorityFile),
		"--service-account-private-key-file=" + c.path(serviceAccountFile),
	})
	if err != nil {
		return err
	}
	c.manager = child
	if err := c.prober.await(ctx, child, localURL("https", c.managerPort)+"/healthz"); err != nil {
		return err
	}
	return c.prober.await(ctx, child, c.url("/api/v1/namespaces/default/serviceaccounts/default"))
}

const auditPolicyFile = "audit-policy.yaml"

// auditPolicy records reads without and everything else with the request's
// body: a test counts the former and looks at the latter.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [get, list, watch]
- level: Request
`

func writeAuditPolicy(path string) error {
	if err := os.WriteFile(path, []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("writing the audit policy: %w", err)
	}
	return nil
}
