// Command edict runs, checks, tests and simulates policies.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

func main() {
	klog.SetLogger(logr.Discard()) // a command prints its own errors; edict run sets a logger
	evaluateRegoApart()
	ctx, stop := interruptible(context.Background())
	code := runEdict(ctx, arguments(os.Args), os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// A plugin of kubectl is a program with one of these names: what it runs, and what it asks for completions.
const (
	pluginName           = "kubectl-edict"
	pluginCompletionName = "kubectl_complete-edict"
)

// arguments returns those of the command, for the program that kubectl asks for completions, too.
func arguments(args []string) []string {
	if filepath.Base(args[0]) == pluginCompletionName {
		return append([]string{cobra.ShellCompRequestCmd}, args[1:]...)
	}
	return args[1:]
}

// runEdict runs the command that the arguments name, and returns its exit code.
func runEdict(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	cmd := root()
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	ran, err := surviving(ctx, cmd)
	err = withUsage(ran, err)
	if err == nil {
		return 0
	}
	code := exitUsage
	if _, ok := errors.AsType[findings](err); ok {
		code = exitFindings
	}
	if _, ok := errors.AsType[changes](err); ok {
		code = exitChanges
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(visible(errOut), "edict: "+text)
	}
	failed(ran, args, err)
	return code
}

// interruptible returns a context that the first signal to end cancels. The
// second one ends the process at once.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// withUsage adds to an error about the arguments what they are.
func withUsage(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	var word string
	if _, none := fmt.Sscanf(err.Error(), "unknown command %q for ", &word); none == nil {
		if !cmd.HasParent() {
			return unknownCommand(cmd, word)
		}
		return unexpectedArgument(cmd, word)
	}
	if wrong := cmd.ValidateArgs(cmd.Flags().Args()); wrong == nil || !cmd.HasParent() || wrong.Error() != err.Error() {
		return err
	}
	return fmt.Errorf("%w: %s", err, cmd.UseLine())
}

// surviving runs a command, and returns which one it was; after a panic that is not known,
// and it is the root. A panic is a bug of ours: it ends with the exit code of a failure and
// says what to report, instead of forty lines of stack alone.
func surviving(ctx context.Context, cmd *cobra.Command) (ran *cobra.Command, err error) {
	ran = cmd
	defer func() {
		if fault := recover(); fault != nil {
			err = found("internal error (panic): %v; this is a bug of edict, please report it with the command and its input\n%s", fault, debug.Stack())
		}
	}()
	return cmd.ExecuteContextC(ctx)
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "edict",
		Version:       version,
		Short:         "A Kubernetes controller whose decisions are policy files",
		SilenceErrors: true,
		SilenceUsage:  true,
		// Without Args cobra names an unknown command before it parses its flags.
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			showControls(cmd)
			noteOutput(cmd)
		},
	}
	if filepath.Base(os.Args[0]) == pluginName {
		cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl edict"}
	}
	cmd.AddCommand(initCommand(), checkCommand(), schemaCommand(), allowancesCommand(), manifestsCommand(), testCommand(), simulateCommand(), verifyCommand(), snapshotCommand(), planCommand(), graphCommand(), explainCommand(), evalCommand(), lspCommand(), exploreCommand(), captureCommand(), crdCommand(), digestCommand(), runCommand(), shadowCommand(), rbacCommand(), paramsCommand(), historyCommand(), rollbackCommand(), holdCommand(), resumeCommand(), releaseCommand(), versionCommand(), childCommand())
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}
