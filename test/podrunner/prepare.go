package podrunner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// prepare lays out what the container sees, and returns its command.
func (p *pod) prepare(ctx context.Context) (*exec.Cmd, error) {
	spec := p.object.Spec
	if len(spec.Containers) != 1 || len(spec.InitContainers) > 0 || len(spec.Containers[0].Command) > 0 {
		return nil, errors.New("podrunner runs one container with the image's own command, no others")
	}
	container := spec.Containers[0]
	paths, err := p.mount(ctx, container)
	if err != nil {
		return nil, err
	}
	environment, err := p.environment(container)
	if err != nil {
		return nil, err
	}
	command := exec.Command(filepath.Join(p.runner.folder, program))
	command.Dir = p.folder
	command.SysProcAttr = childAttributes(p.user())
	for _, argument := range container.Args {
		command.Args = append(command.Args, paths.rewrite(p.bind(expand(argument, environment))))
	}
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+paths.rewrite(value))
	}
	kubeconfig, err := p.kubeconfig(ctx)
	if err != nil {
		return nil, err
	}
	if kubeconfig != "" {
		command.Env = append(command.Env, "KUBECONFIG="+kubeconfig)
	}
	return command, nil
}

// environment is the container's own and nothing of this process's.
func (p *pod) environment(container corev1.Container) (map[string]string, error) {
	out := map[string]string{"HOME": "/nonexistent", "TMPDIR": "/nonexistent"}
	fields := map[string]string{
		"metadata.name": p.object.Name, "metadata.namespace": p.object.Namespace, "metadata.uid": string(p.object.UID),
		"spec.nodeName": p.object.Spec.NodeName, "spec.serviceAccountName": p.object.Spec.ServiceAccountName, "status.podIP": p.address,
	}
	for _, variable := range container.Env {
		switch from := variable.ValueFrom; {
		case from == nil:
			out[variable.Name] = expand(variable.Value, out)
		case from.FieldRef != nil && fields[from.FieldRef.FieldPath] != "":
			out[variable.Name] = fields[from.FieldRef.FieldPath]
		default:
			return nil, fmt.Errorf("podrunner does not know where the variable %s comes from", variable.Name)
		}
	}
	return out, nil
}

var reference = regexp.MustCompile(`\$(\$|\([A-Za-z_][A-Za-z0-9_.-]*\))`)

// expand replaces $(VAR) as Kubernetes does: what is not set stays, $$ is $.
func expand(text string, environment map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, ok := environment[found[2:len(found)-1]]; ok {
			return value
		}
		return found
	})
}

var everywhere = regexp.MustCompile(`^(--[a-z-]+=)?:(\d+)$`)

// bind lets a process listen on its Pod's address alone.
func (p *pod) bind(argument string) string {
	return everywhere.ReplaceAllString(argument, "${1}"+p.address+":$2")
}

// kubeconfig writes one with a token of the Pod's ServiceAccount, which is good
// while the Pod is; none if the Pod is to have none.
func (p *pod) kubeconfig(ctx context.Context) (string, error) {
	account, err := p.runner.client.CoreV1().ServiceAccounts(p.object.Namespace).Get(ctx, p.object.Spec.ServiceAccountName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	for _, mounted := range []*bool{p.object.Spec.AutomountServiceAccountToken, account.AutomountServiceAccountToken} {
		if mounted == nil {
			continue
		}
		if !*mounted {
			return "", nil
		}
		break
	}
	token, err := p.runner.client.CoreV1().ServiceAccounts(p.object.Namespace).CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Pod", Name: p.object.Name, UID: p.object.UID,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	const name = "pod"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: p.runner.config.Host, CertificateAuthorityData: p.runner.config.CAData}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: p.object.Namespace}
	file.CurrentContext = name
	text, err := clientcmd.Write(*file)
	if err != nil {
		return "", err
	}
	path := filepath.Join(p.folder, "kubeconfig")
	return path, p.write(path, text)
}

// mounts are the folders of this machine by the container's paths.
type mounts map[string]string

// rewrite replaces the container's paths in a text.
func (m mounts) rewrite(text string) string {
	for path, folder := range m {
		if rest, found := strings.CutSuffix(text, path); found {
			text = rest + folder
		}
		text = strings.ReplaceAll(text, path+"/", folder+string(os.PathSeparator))
	}
	return text
}
