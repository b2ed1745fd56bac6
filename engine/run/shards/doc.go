// Package shards divides the keys of policies among the replicas of the controller.
//
// Every key, which is a policy with the namespace and the name of a primary object,
// belongs to one of N shards ([Spread]). A replica evaluates the keys of the shards that
// it holds, and each shard is held by a Lease of its own. The replicas announce themselves
// in one more Lease, the roster ([Roster]): each writes its own annotation and reads those of all
// others in the answer to the same request. From the live ones follows how many shards a
// replica holds ([Quota]), and which it competes for or releases ([Roster.Next]).
//
// Policies whose keys share state are not spread: all their keys belong to one shard
// ([Placement]). [Ownership] is what one replica holds. It admits an evaluation, and each
// of its writes, only while the shard of the key is held.
package shards
