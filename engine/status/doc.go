// Package status knows how an outcome is told in an object's status: as
// metav1.Conditions, whose transition time moves only with the status, and as
// events, both within the sizes that the API server takes.
package status
