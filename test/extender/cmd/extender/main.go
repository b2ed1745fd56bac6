// Command extender serves the scheduler extender for tests and demonstrations
// over HTTPS, until it is told to stop.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/edict-dev/edict/test/extender"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "extender:", err)
		}
		os.Exit(2)
	}
}

// options are the flags.
type options struct {
	listen, capacity, generate string
	files                      extender.TLS
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("extender", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to listen at; port 0 is a free one")
	flags.StringVar(&o.files.CertFile, "cert", "", "file with the server's certificate, PEM")
	flags.StringVar(&o.files.KeyFile, "key", "", "file with the server's key, PEM")
	flags.StringVar(&o.files.ClientCAFile, "client-ca", "", "file with the authorities of the clients' certificates; none are needed without it")
	flags.StringVar(&o.capacity, "capacity", "", "file with the pools: a JSON list of {name, thinPoolName, size, used}, in bytes")
	flags.StringVar(&o.generate, "generate-certs", "", "folder to write ca.crt, server.crt, server.key, client.crt and client.key to, and to serve with")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return o, o.check(flags.Args())
}

func (o *options) check(rest []string) error {
	given := o.files != extender.TLS{}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.generate != "" && given:
		return errors.New("--generate-certs does without --cert, --key and --client-ca")
	case o.generate == "" && (o.files.CertFile == "" || o.files.KeyFile == ""):
		return errors.New("--cert and --key are needed, or --generate-certs")
	}
	return nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	running, err := start(o)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "listening on %s\n", running.URL)
	<-ctx.Done()
	return running.Close()
}

func start(o *options) (*extender.Running, error) {
	config := extender.Config{}
	if o.capacity != "" {
		text, err := os.ReadFile(o.capacity)
		if err != nil {
			return nil, err
		}
		if config.Capacity, err = extender.ParseCapacity(text); err != nil {
			return nil, err
		}
	}
	if o.generate != "" {
		return extender.ListenGenerated(o.generate, o.listen, extender.New(config))
	}
	return extender.Listen(o.listen, o.files, extender.New(config))
}
