package apiserver

import (
	_ "embed"

	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/edict-dev/edict/engine/schema"
)

// kind is what the server goes by for the objects of a kind. One without a
// structure is taken for a custom kind that has status as a subresource.
type kind struct {
	gvk       schema.GVK
	structure *schema.Structure
	naming    schema.Naming
}

func (s *Server) kindOf(o Object) kind {
	gvk := schema.GVK{APIVersion: text(o, "apiVersion"), Kind: text(o, "kind")}
	structure, _ := s.schemas.Structure(gvk)
	return kind{gvk, structure, s.schemas.Naming(gvk)}
}

func (k kind) builtin() bool { return k.structure != nil && !k.structure.Custom }

// hasStatus reports whether status is a subresource.
func (k kind) hasStatus() bool { return k.structure == nil || k.structure.Status }

// numbered says of which built-in kinds the server keeps metadata.generation,
// and what a change of it counts; kube-apiserver has that in code only.
//
//go:embed numbered.json
var numberedText []byte

var numbered = schema.Table[string]("generations", numberedText)

func (k kind) name() string { return k.gvk.Group() + "/" + k.gvk.Kind }

func (k kind) generations() bool { return !k.builtin() || numbered()[k.name()] != "" }

// moves reports whether a change counts as a new generation.
func (k kind) moves(old, next Object) bool {
	if !k.generations() {
		return false
	}
	if k.builtin() && numbered()[k.name()] == "spec and annotations" && !same(metadata(old)["annotations"], metadata(next)["annotations"]) {
		return true
	}
	return !same(k.counted(old), k.counted(next))
}

// counted are the fields whose changes count.
func (k kind) counted(o Object) Object {
	out := Object{}
	for field, v := range o {
		if field != "metadata" && (field != "status" || !k.hasStatus()) {
			out[field] = v
		}
	}
	return out
}

func (k kind) converter() managedfields.TypeConverter {
	if k.structure != nil {
		if typed, err := k.structure.Definitions.Typed(); err == nil {
			return typed
		}
	}
	return managedfields.NewDeducedTypeConverter()
}
