package selector

import (
	"errors"
	"fmt"
	"slices"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// maxErrors is how many errors are shown of those of one selector.
const maxErrors = 5

// Brief returns an error with the first few of those that it is made of. The API
// machinery finds an error for every value of a requirement, and takes time with
// the square of their number to write them.
func Brief(err error) error {
	list, ok := errors.AsType[utilerrors.Aggregate](err)
	if !ok || len(list.Errors()) <= maxErrors {
		return err
	}
	all := list.Errors()
	more := fmt.Errorf("and %d more", len(all)-maxErrors)
	return utilerrors.NewAggregate(append(slices.Clone(all[:maxErrors]), more))
}
