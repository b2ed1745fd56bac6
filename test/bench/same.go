package main

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/test/bench/byhand"
)

// same returns an error unless two patches do the same.
func same(ours, theirs byhand.Write) error {
	if ours.Kind != theirs.Kind || ours.Name != theirs.Name || ours.Subresource != theirs.Subresource {
		return fmt.Errorf("patches of %s %s %s and of %s %s %s", ours.Kind, ours.Name, ours.Subresource, theirs.Kind, theirs.Name, theirs.Subresource)
	}
	a, err := ours.Decoded()
	if err != nil {
		return err
	}
	b, err := theirs.Decoded()
	if err != nil {
		return err
	}
	if ours.Kind == "Node" {
		unlock(a) // the controller written by hand sends a label whatever the version is
	}
	if diff := cmp.Diff(effective(b), effective(a)); diff != "" {
		return fmt.Errorf("the patches of %s %s differ (-by hand +Edict):\n%s", ours.Kind, ours.Name, diff)
	}
	return nil
}

func unlock(body map[string]any) {
	if metadata, ok := body["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
	}
}

// effective drops what a merge patch of these objects does not change: fields that
// are removed where there is none.
func effective(body map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range body {
		if m, ok := v.(map[string]any); ok {
			v = effective(m)
		}
		if v != nil {
			out[k] = v
		}
	}
	return out
}
