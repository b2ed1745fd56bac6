# Tests of the decision table, row by row. edict test runs them.
package kmm.nmc_test

import data.kmm.nmc

# A node that is ready, and a module that it wants and has.
node := {"nodeReady": true, "schedulable": true, "kernel": "6.1", "bootID": "one", "readySince": "2026-03-01T10:00:00Z"}

config := {"kernelVersion": "6.1", "containerImage": "img:1"}

older := {"kernelVersion": "5.14", "containerImage": "img:1"}

loaded := {"config": config, "lastTransitionTime": "2026-03-01T11:00:00Z", "bootId": "one"}

decide(changes) := decision if {
	decision := nmc.decision with input as object.union(node, changes)
}

test_wanted_and_not_there if decide({"spec": {"config": config}}) == "load"

test_wanted_for_another_kernel if decide({"spec": {"config": older}}) == "none"

test_not_wanted if decide({"status": loaded}) == "unload"

test_not_wanted_and_gone_with_the_reboot if decide({"status": object.union(loaded, {"config": older})}) == "drop"

test_neither if decide({}) == "none"

test_wanted_differently if {
	decide({"spec": {"config": object.union(config, {"containerImage": "img:2"})}, "status": loaded}) == "unload"
}

test_wanted_for_the_kernel_of_today if {
	decide({"spec": {"config": config}, "status": object.union(loaded, {"config": older})}) == "load"
}

test_as_wanted if decide({"spec": {"config": config}, "status": loaded}) == "none"

test_loaded_before_the_node_was_ready if {
	decide({"spec": {"config": config}, "status": loaded, "readySince": "2026-03-01T12:00:00Z"}) == "load"
}

test_loaded_at_the_very_time if {
	decide({"spec": {"config": config}, "status": loaded, "readySince": "2026-03-01T11:00:00Z"}) == "none"
}

test_another_boot if decide({"spec": {"config": config}, "status": object.union(loaded, {"bootId": "two"})}) == "load"

test_a_missing_pull_policy_is_if_not_present if {
	decide({"spec": {"config": object.union(config, {"imagePullPolicy": "IfNotPresent"})}, "status": loaded}) == "none"
}

test_a_node_that_may_not_be_touched if {
	every changes in [{"spec": {"config": config}}, {"status": loaded}, {"spec": {"config": config}, "status": object.union(loaded, {"bootId": "two"})}] {
		decide(object.union(changes, {"schedulable": false})) == "none"
	}
}

trusting := {"trustBootID": true, "status": loaded}

rebooted := {"trustBootID": true, "status": object.union(loaded, {"bootId": "two"})}

test_the_same_boot_hides_that_the_node_was_not_ready if {
	decide(object.union(trusting, {"spec": {"config": config}, "readySince": "2026-03-01T12:00:00Z"})) == "none"
}

test_without_a_boot_id_the_time_decides if {
	decide(object.union(trusting, {"spec": {"config": config}, "bootID": "", "readySince": "2026-03-01T12:00:00Z"})) == "load"
}

test_not_wanted_and_gone_with_a_reboot_into_the_same_kernel if decide(rebooted) == "drop"

test_not_wanted_and_not_rebooted if decide(trusting) == "unload"

test_wanted_differently_after_a_reboot if {
	decide(object.union(rebooted, {"spec": {"config": object.union(config, {"containerImage": "img:2"})}})) == "load"
}

test_by_default_a_reboot_into_the_same_kernel_is_unloaded if decide(object.union(rebooted, {"trustBootID": false})) == "unload"
