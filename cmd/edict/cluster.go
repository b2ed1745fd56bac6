package main

import (
	"errors"
	"os"
	"strconv"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// clusterFlags choose a cluster and a namespace of it, as those of kubectl do.
type clusterFlags struct {
	clientcmd.ConfigOverrides

	kubeconfig string
}

// register adds the flags; usage describes --namespace.
func (f *clusterFlags) register(flags *pflag.FlagSet, usage string) {
	flags.StringVar(&f.kubeconfig, clientcmd.RecommendedConfigPathFlag, "", "the cluster's kubeconfig (default: $KUBECONFIG, or the cluster that this runs in)")
	var names clientcmd.ConfigOverrideFlags // others of its recommended set, such as --token, have another meaning here
	names.CurrentContext = clientcmd.FlagInfo{LongName: clientcmd.FlagContext, Description: "the context of the kubeconfig"}
	names.ContextOverrideFlags = clientcmd.ContextOverrideFlags{
		ClusterName:  clientcmd.FlagInfo{LongName: clientcmd.FlagClusterName, Description: "the cluster of the kubeconfig"},
		AuthInfoName: clientcmd.FlagInfo{LongName: clientcmd.FlagAuthInfoName, Description: "the user of the kubeconfig"},
		Namespace:    clientcmd.FlagInfo{LongName: clientcmd.FlagNamespace, ShortName: "n", Description: usage},
	}
	clientcmd.BindOverrideFlags(&f.ConfigOverrides, flags, names)
}

func (f *clusterFlags) loaded() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &f.ConfigOverrides)
}

// restConfig returns how to connect to the cluster.
func (f *clusterFlags) restConfig() (*rest.Config, error) {
	config, err := f.loaded().ClientConfig()
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

// clientset returns a client of the cluster, and its configuration.
func (f *clusterFlags) clientset() (kubernetes.Interface, *rest.Config, error) {
	config, err := f.restConfig()
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	return client, config, err
}
