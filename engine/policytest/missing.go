package policytest

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/world"
)

// maxInstead bounds the objects that a message names.
const maxInstead = 3

// missing says that an object does not exist, and which of its kind do.
func missing(id world.ID, all []simulate.Object) string {
	var names []string
	for _, o := range all {
		if other := simulate.ID(o); other.GVK() == id.GVK() {
			names = append(names, named(other))
		}
	}
	out := fmt.Sprintf("%s %s does not exist", id.Kind(), named(id))
	switch more := len(names) - maxInstead; {
	case len(names) == 0:
		return out + ", nor any of its kind"
	case more > 0:
		return fmt.Sprintf("%s; of its kind there are %s and %d more", out, strings.Join(names[:maxInstead], ", "), more)
	}
	return out + "; of its kind there is " + strings.Join(names, ", ")
}

func named(id world.ID) string {
	return strings.TrimPrefix(id.Namespace()+"/"+id.Name(), "/")
}
