// Command krew reads a manifest of a plugin strictly, as krew's own type, and prints it as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/krew/pkg/index"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := printPlugin(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func printPlugin(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var plugin index.Plugin
	if err := yaml.UnmarshalStrict(text, &plugin); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return json.NewEncoder(os.Stdout).Encode(plugin)
}
