package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// Child is a set of objects that a policy keeps for each primary object: what is
// wanted exists, what is no longer wanted is deleted.
type Child struct {
	// Name is that of the set in expressions: children.NAME.
	Name Text `yaml:"name" schema:"required"`
	// After are the names of children that must be ready before these are made, and
	// that are deleted after these.
	After []Text `yaml:"after"`
	// When says whether the object is wanted; with forEach, for each item.
	When Text `yaml:"when"`
	// ForEach wants one object per item of a list.
	ForEach Text `yaml:"forEach"`
	// As is the name of an item in expressions; default item.
	As Text `yaml:"as"`
	// Variables are computed for each item, in their order.
	Variables []Variable `yaml:"variables"`
	// Owner makes the primary object the owner of the objects.
	Owner bool `yaml:"owner"`
	// Apply is the object, kept as written by server-side apply.
	Apply Template `yaml:"apply" schema:"required"`
	// Once are paths of fields that are set when the object is made and left alone
	// afterwards.
	Once []Text `yaml:"once"`
	// IfExists is refuse (default) or take: what to do about an object of someone else.
	IfExists Text `yaml:"ifExists" schema:"enum=refuse|take"`
	// Ready, over item, says whether an object is ready; without it one that exists is.
	Ready Text `yaml:"ready"`
	// WhenDeleted is Delete (default) or Orphan: what becomes of the objects when the
	// primary object is deleted or leaves the selector.
	WhenDeleted Text `yaml:"whenDeleted" schema:"enum=Delete|Orphan"`
	// WhenUnwanted is Delete (default) or Orphan, for an object that when or forEach no longer
	// asks for. Orphan removes its marks, so that nothing deletes it later.
	WhenUnwanted Text `yaml:"whenUnwanted" schema:"enum=Delete|Orphan"`
	// CreateBeforeDelete delays the deletion of unwanted objects until all wanted ones are ready.
	CreateBeforeDelete bool `yaml:"createBeforeDelete"`
	// Propagation is how the dependents of a deleted object are deleted: Background (default),
	// Foreground or Orphan.
	Propagation Text `yaml:"propagation" schema:"enum=Background|Foreground|Orphan"`
	// OnError is done when an object fails; error.message is known there.
	OnError []Action `yaml:"onError"`
	Pos     document.Position
}
