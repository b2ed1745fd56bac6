// Command controlplane builds and runs the control plane of tests by hand:
//
//	go run ./test/controlplane/cmd/controlplane build
//	go run ./test/controlplane/cmd/controlplane helm
//	go run ./test/controlplane/cmd/controlplane up [-crds folder] [-controller-manager]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/edict-dev/edict/test/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("say build, helm or up")
	}
	switch arguments[0] {
	case "build":
		_, err := controlplane.Build(ctx, os.Stderr)
		return err
	case "helm":
		path, err := controlplane.Helm(ctx, os.Stderr)
		if err == nil {
			fmt.Println(path)
		}
		return err
	case "up":
		return up(ctx, arguments[1:])
	default:
		return fmt.Errorf("unknown command %q: say build, helm or up", arguments[0])
	}
}

// up runs a control plane until ctx ends. Standard output gets one line, the
// path of the kubeconfig, for scripts to read.
func up(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	crds := flags.String("crds", "", "folder of CRDs to install")
	manager := flags.Bool("controller-manager", false, "run kube-controller-manager too")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{ControllerManager: *manager})
	if err != nil {
		return err
	}
	if *crds != "" {
		err = plane.InstallCRDs(ctx, *crds)
	}
	if err == nil {
		fmt.Println(plane.Kubeconfig())
		fmt.Fprintf(os.Stderr, "try: %s --kubeconfig %s get nodes; Ctrl-C ends it\n", plane.Kubectl(), plane.Kubeconfig())
		<-ctx.Done()
	}
	return errors.Join(err, plane.Stop())
}
