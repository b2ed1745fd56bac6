// Command kstatus computes the status of each object of a JSON list on its input, as Flux and
// other tools that wait for objects do, and prints a JSON list. It is a module of its own, so that
// the controller does not depend on it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var objects []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return err
	}
	out := []string{}
	for _, text := range objects {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			return err
		}
		result, err := status.Compute(object)
		if err != nil {
			return err
		}
		out = append(out, result.Status.String())
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
