// Package conformance compares the API server in memory with kube-apiserver:
// generated requests go to both, and the answers are compared field by field.
//
// The requests are made from a seed. The answers of the real server are kept in
// testdata/answers.jsonl.gz, so that the one in memory is tested without a
// control plane, too; UPDATE_GOLDEN=1 with a control plane writes them anew. It also
// writes testdata/published.json, the schemas as that server publishes them.
//
// What cannot agree is left out: uids, times, absolute resource versions and
// generated names. Of the built-in kinds the fields are compared that some
// request of the scenario named, or that the server in memory has: it does not
// know the defaults that kube-apiserver has in code only.
package conformance
