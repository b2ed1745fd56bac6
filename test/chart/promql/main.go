// Command promql parses each of its arguments as Prometheus does, or without arguments
// evaluates the alerts of a run that it reads from standard input. It is a module of its
// own, so that nothing of Prometheus is in the controller's.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	if len(os.Args) == 1 {
		if err := evaluate(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	failed := false
	for _, expression := range os.Args[1:] {
		if _, err := parser.ParseExpr(expression); err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %v\n", expression, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// evaluate evaluates runs, and writes the changes of the alerts of each.
func evaluate(ctx context.Context) error {
	var runs []run
	if err := json.NewDecoder(os.Stdin).Decode(&runs); err != nil {
		return err
	}
	out := make([][]string, len(runs))
	for i := range runs {
		var err error
		if out[i], err = runs[i].changes(ctx); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
