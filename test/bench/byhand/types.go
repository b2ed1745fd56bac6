package byhand

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of the storage kinds.
var GroupVersion = schema.GroupVersion{Group: "storage.deckhouse.io", Version: "v1alpha1"}

// StoragePool is a ReplicatedStoragePool.
type StoragePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   StoragePoolSpec   `json:"spec"`
	Status StoragePoolStatus `json:"status"`
}

// StoragePoolSpec names the volume groups of a pool, and its nodes.
type StoragePoolSpec struct {
	Type                string                `json:"type"`
	VolumeGroups        []VolumeGroupRef      `json:"lvmVolumeGroups,omitempty"`
	Zones               []string              `json:"zones,omitempty"`
	NodeLabelSelector   *metav1.LabelSelector `json:"nodeLabelSelector,omitempty"`
	EligibleNodesPolicy EligibleNodesPolicy   `json:"eligibleNodesPolicy"`
}

// VolumeGroupRef names a volume group, or a thin pool in it.
type VolumeGroupRef struct {
	Name         string `json:"name"`
	ThinPoolName string `json:"thinPoolName,omitempty"`
}

// EligibleNodesPolicy says how long a node may be NotReady.
type EligibleNodesPolicy struct {
	NotReadyGracePeriod metav1.Duration `json:"notReadyGracePeriod"`
}

// StoragePoolStatus has the nodes that can host volumes of the pool.
type StoragePoolStatus struct {
	Conditions            []metav1.Condition `json:"conditions,omitempty"`
	EligibleNodesRevision int64              `json:"eligibleNodesRevision,omitempty"`
	EligibleNodes         []EligibleNode     `json:"eligibleNodes,omitempty"`
	Phase                 string             `json:"phase,omitempty"`
	Reason                string             `json:"reason,omitempty"`
}

// EligibleNode is a node that can host volumes of a pool.
type EligibleNode struct {
	NodeName      string                `json:"nodeName"`
	ZoneName      string                `json:"zoneName,omitempty"`
	VolumeGroups  []EligibleVolumeGroup `json:"lvmVolumeGroups,omitempty"`
	Unschedulable bool                  `json:"unschedulable"`
	NodeReady     bool                  `json:"nodeReady"`
	AgentReady    bool                  `json:"agentReady"`
}

// EligibleVolumeGroup is a volume group of an eligible node.
type EligibleVolumeGroup struct {
	Name          string `json:"name"`
	ThinPoolName  string `json:"thinPoolName,omitempty"`
	Unschedulable bool   `json:"unschedulable"`
	Ready         bool   `json:"ready"`
}

// Volume is a ReplicatedVolume.
type Volume struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   VolumeSpec   `json:"spec"`
	Status VolumeStatus `json:"status"`
}

// VolumeSpec has the size of a volume.
type VolumeSpec struct {
	Size resource.Quantity `json:"size"`
}

// VolumeStatus has the configuration of a volume, which another controller resolves.
type VolumeStatus struct {
	Configuration           *VolumeConfiguration `json:"configuration,omitempty"`
	ConfigurationGeneration int64                `json:"configurationGeneration,omitempty"`
	DesiredAttachTo         []string             `json:"desiredAttachTo,omitempty"`
}

// VolumeConfiguration says how the replicas of a volume are to be placed.
type VolumeConfiguration struct {
	Topology        string `json:"topology"`
	Replication     string `json:"replication"`
	VolumeAccess    string `json:"volumeAccess"`
	StoragePoolName string `json:"storagePoolName"`
}

// Replica is a ReplicatedVolumeReplica.
type Replica struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   ReplicaSpec   `json:"spec"`
	Status ReplicaStatus `json:"status"`
}

// ReplicaSpec has the placement of a replica.
type ReplicaSpec struct {
	ReplicatedVolumeName       string `json:"replicatedVolumeName"`
	Type                       string `json:"type"`
	NodeName                   string `json:"nodeName,omitempty"`
	LVMVolumeGroupName         string `json:"lvmVolumeGroupName,omitempty"`
	LVMVolumeGroupThinPoolName string `json:"lvmVolumeGroupThinPoolName,omitempty"`
}

// ReplicaStatus has the conditions of a replica.
type ReplicaStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// VolumeGroup is an LVMVolumeGroup.
type VolumeGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   VolumeGroupSpec   `json:"spec"`
	Status VolumeGroupStatus `json:"status"`
}

// VolumeGroupSpec has the node and the thin pools of a volume group.
type VolumeGroupSpec struct {
	Type         string          `json:"type"`
	ActualVGName string          `json:"actualVGNameOnTheNode"`
	Local        VolumeGroupNode `json:"local"`
	ThinPools    []ThinPool      `json:"thinPools,omitempty"`
}

// VolumeGroupNode names the node of a volume group.
type VolumeGroupNode struct {
	NodeName string `json:"nodeName"`
}

// ThinPool is a thin pool of a volume group.
type ThinPool struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready,omitempty"`
}

// VolumeGroupStatus has the state of a volume group.
type VolumeGroupStatus struct {
	VGSize     string             `json:"vgSize,omitempty"`
	VGFree     string             `json:"vgFree,omitempty"`
	Phase      string             `json:"phase,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	ThinPools  []ThinPool         `json:"thinPools,omitempty"`
}

// Resource is a DRBDResource.
type Resource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec ResourceSpec `json:"spec"`
}

// ResourceSpec names the node of a resource.
type ResourceSpec struct {
	NodeName string `json:"nodeName"`
}
