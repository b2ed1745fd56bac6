package controlplane

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Config is a cluster administrator's client configuration, a copy that the
// caller may change: set Impersonate to be somebody with fewer rights. It has
// no client-side rate limit.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig is the path of a file with what [ControlPlane.Config] has.
func (c *ControlPlane) Kubeconfig() string { return c.path("kubeconfig") }

// Kubectl is the path of a kubectl of the API server's version.
func (c *ControlPlane) Kubectl() string { return c.binaries.Kubectl }

// AuditLogPath is the file that [Options.AuditLog] has written.
func (c *ControlPlane) AuditLogPath() string { return c.path("audit.jsonl") }

// LogPath is the file with the output of a component: "etcd", "kube-apiserver"
// or "kube-controller-manager". It is removed by Stop.
func (c *ControlPlane) LogPath(component string) string { return c.path(component + ".log") }

func newConfig(host string, authority []byte, admin pair) *rest.Config {
	return &rest.Config{
		Host:            host,
		QPS:             -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: authority, CertData: admin.certificate, KeyData: admin.key},
	}
}

func writeKubeconfig(path string, config *rest.Config) error {
	const name = "edict-test"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}
