package main

import (
	"errors"
	"os"
	"strconv"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// clusterClient returns a client of the cluster, and what it connects by.
func clusterClient(kubeconfig string) (kubernetes.Interface, *rest.Config, error) {
	config, err := clusterConfig(kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	return client, config, err
}

func clusterConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no cluster configured: set --kubeconfig or $KUBECONFIG")
	}
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = -1, 0 // the API server has a flow control of its own, and policies a limit
	config.UserAgent = "edict/" + version + " (" + strconv.Itoa(os.Getpid()) + ")"
	return config, nil
}
