package apply

import "github.com/edict-dev/edict/engine/children"

// KeptFor reports whether an object with some annotations may be the one that is made: it
// is not marked as a child of another primary object. Two decisions that have not seen each
// other may make it.
func (m Manifest) KeptFor(annotations map[string]string) bool {
	metadata, _ := m.Body["metadata"].(map[string]any)
	own, _ := metadata["annotations"].(map[string]any)
	name, isChild := own[children.PrimaryName].(string)
	namespace, _ := own[children.PrimaryNamespace].(string)
	there, marked := annotations[children.PrimaryName]
	return !isChild || !marked || there == name && annotations[children.PrimaryNamespace] == namespace
}
