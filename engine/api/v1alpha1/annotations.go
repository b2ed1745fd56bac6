package v1alpha1

// AnnotationDigests is the annotation of a Secret in a snapshot, a test or a record whose values are
// digests.
const AnnotationDigests = "edict.dev/digests"
