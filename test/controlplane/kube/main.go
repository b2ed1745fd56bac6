// Command kube is kube-apiserver, kube-controller-manager and kubectl in one
// binary, chosen by its first argument or by the name it is called under.
//
// One binary is linked once, and the three share most of their packages: it is
// the quickest way to a whole control plane from Go modules.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"

	// The metrics and the JSON log format that the released binaries have.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

var commands = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": manager.NewControllerManagerCommand,
	"kubectl":                 cmd.NewDefaultKubectlCommand,
}

func main() {
	newCommand := choose()
	if newCommand == nil {
		fmt.Fprintln(os.Stderr, "usage: kube kube-apiserver|kube-controller-manager|kubectl [flags]")
		os.Exit(64)
	}
	os.Exit(cli.Run(newCommand()))
}

// choose finds the component to be, and hides from it the argument that named
// it: the components read os.Args themselves.
func choose() func() *cobra.Command {
	if newCommand := commands[filepath.Base(os.Args[0])]; newCommand != nil {
		return newCommand
	}
	if len(os.Args) < 2 {
		return nil
	}
	newCommand := commands[os.Args[1]]
	os.Args = os.Args[1:]
	return newCommand
}
