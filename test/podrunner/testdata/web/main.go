// Command web is the program in the Pods of podrunner's tests:
//
//	web serve --bind-address=:8080 --file=PATH
//	web exit [WORD...]    ends with as many words as its code
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if os.Args[1] == "exit" {
		os.Exit(len(os.Args) - 2)
	}
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	address := flags.String("bind-address", "", "")
	file := flags.String("file", "", "")
	_ = flags.Parse(os.Args[2:]) // it exits
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: *address, Handler: handler(*file), ReadHeaderTimeout: time.Second}
	go func() {
		if err := server.ListenAndServe(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}()
	<-ctx.Done()
	fmt.Fprintln(os.Stdout, "ended well")
}

// handler says on /file who it is and what it was given; /break makes it unwell.
func handler(file string) http.Handler {
	var broken atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/live", func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/break", func(http.ResponseWriter, *http.Request) { broken.Store(true) })
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(file)
		if err != nil {
			text = []byte(err.Error())
		}
		_, err = os.MkdirTemp("", "web")
		written := err == nil || os.WriteFile(file, nil, 0o600) == nil
		fmt.Fprintf(w, "%s %s %s user %d wrote %t %v", text, os.Getenv("NAME"), os.Getenv("HIDDEN"), os.Getuid(), written, forbidden(r.Context()))
	})
	return mux
}

// forbidden asks for what the account may not see: the refusal names it.
func forbidden(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
	return err
}
