package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/edict-dev/edict/engine/explore"
	"github.com/edict-dev/edict/engine/source"
)

// exploreFlags are those of edict explore.
type exploreFlags struct {
	world   worldFlags
	against []string
	export  string
	port    int
}

func exploreCommand() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore [PATH...]",
		Short: "Serve a page on which to look at the decisions of policies",
		Long: `Reads policies and objects once, and serves a page about the decisions: why each
comes out as it does, the candidates of selections, the policy's text with the
value of every part, what is read and written, what happens as time passes, what
other params or another revision would change, and which policies read and write
which kinds.

The page is served on the loopback address, below a random token, until the
command is interrupted. All is evaluated in memory: nothing is sent to the cluster
but reads, and nothing can be changed from the page.`,
		Example: "  edict explore policies --objects examples/storage\n" +
			"  edict explore edited --against policies --objects world.yaml\n" +
			"  edict explore -n edict-system --export page.html",
		RunE: withOutputs(f.run),
	}
	f.world.register(cmd, namespaceOfSets)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.against, "against", nil, "a file or folder of another revision of the policies, to compare with; may repeat")
	flags.StringVar(&f.export, "export", "", "write the page into this file, with all that it shows, instead of serving it; - is standard output")
	flags.IntVar(&f.port, "port", 0, "the port to serve the page on (default: any that is free)")
	cmd.MarkFlagsMutuallyExclusive("export", "port")
	return f.world.origin.takePaths(cmd, 0)
}

func (f *exploreFlags) run(ctx context.Context, out, errOut io.Writer) error {
	w, err := f.load(ctx, errOut)
	if err != nil {
		return err
	}
	if f.export != "" {
		return f.write(ctx, w, out, errOut)
	}
	return f.serve(ctx, w, out, errOut)
}

// load reads both sets of policies, and the objects.
func (f *exploreFlags) load(ctx context.Context, errOut io.Writer) (*explore.World, error) {
	in, err := f.world.loadPolicies(ctx, errOut)
	if err != nil {
		return nil, err
	}
	var against *source.Bundle
	policies := in.bundle.Policies
	if len(f.against) > 0 {
		if against, err = f.world.other(ctx, in, f.against, errOut); err != nil {
			return nil, err
		}
		policies = slices.Concat(policies, against.Policies)
	}
	if err := f.world.read(ctx, in, policies, errOut); err != nil {
		return nil, err
	}
	from := f.world.objects
	if in.reader != nil {
		from = "the cluster"
	}
	return explore.New(explore.Options{
		Bundle: in.bundle, Against: against, Objects: in.objects, Start: in.start, Answers: in.answers, Guard: in.guard, Origin: from,
	}), nil
}

// write writes the page into a file.
func (f *exploreFlags) write(ctx context.Context, w *explore.World, out, errOut io.Writer) (err error) {
	if f.export == "-" {
		return w.Export(ctx, out)
	}
	file, err := os.OpenFile(f.export, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return found("%v", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := w.Export(ctx, file); err != nil {
		return err
	}
	fmt.Fprintf(errOut, "%s has the page; open it in a browser\n", f.export)
	return nil
}

// serve serves the page until the context ends.
func (f *exploreFlags) serve(ctx context.Context, w *explore.World, out, errOut io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)))
	if err != nil {
		return found("the page cannot be served: %v; choose another port with --port", err)
	}
	token := explore.Token()
	server := &http.Server{
		Handler: w.Handler(token), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	fmt.Fprintf(out, "http://%s/%s/\n", listener.Addr(), token)
	fmt.Fprintln(errOut, "Open this address in a browser; whoever has it can read the page. Ctrl-C ends it.")
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return found("serving the page: %v", err)
	}
	return nil
}
