// Command promql parses each of its arguments as Prometheus does. It is a module
// of its own, so that nothing of Prometheus is in the controller's.
package main

import (
	"fmt"
	"os"

	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
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
