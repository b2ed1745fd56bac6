// Package run is the controller process: it watches a cluster, reconciles with
// workers and a queue, and serves metrics and probes.
//
// Every policy runs by itself. One whose kinds the cluster does not serve yet
// waits for them; one that does not compile against the cluster's schemas is
// reported; the others do not notice.
package run
