package conformance

// approvals are requests for the subresource approval.
func approvals(all map[string]*kind) []scenario {
	requests, maps := all["CertificateSigningRequest"], all["ConfigMap"]
	return []scenario{
		approving(requests), denying(requests), undecidable(requests), besides(requests),
		{Name: "approve-configmaps", Requests: []request{
			{Op: create, Kind: maps, Name: "a", Body: maps.object("a", maps.base), Manager: "user"},
			{Op: patch, Kind: maps, Name: "a", Subresource: "approval", Body: conditions(condition("Approved")), Manager: "edict/p"},
		}},
	}
}

// condition is one with the status True, unless fields say otherwise.
func condition(name string, fields ...Object) Object {
	out := Object{"type": name, "status": "True"}
	for _, f := range fields {
		merge(out, f)
	}
	return out
}

func conditions(list ...any) Object { return Object{"status": Object{"conditions": list}} }

// long is the time of conditions that are sent twice: one without a time gets the
// server's.
var long = Object{"lastUpdateTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}

// clusterwide makes a scenario of requests about an object without a namespace, so its
// name is the scenario's.
func clusterwide(name string, k *kind, list ...request) scenario {
	out := scenario{Name: name, Requests: []request{{Op: create, Body: k.object(name, k.base), Manager: "user"}}}
	out.Requests = append(out.Requests, list...)
	for i := range out.Requests {
		out.Requests[i].Kind, out.Requests[i].Name = k, name
	}
	return out
}

func approve(list ...any) request {
	return request{Op: patch, Subresource: "approval", Body: conditions(list...), Manager: "edict/p"}
}

// approving approves a request, and tries to change that.
func approving(k *kind) scenario {
	locked := func(version string, c Object) request {
		out := approve(c)
		out.Body["metadata"] = Object{"resourceVersion": version}
		return out
	}
	approved := condition("Approved", long, Object{"reason": "Known", "message": "m"})
	return clusterwide("approve", k,
		approve(condition("Approved", Object{"reason": "Known", "message": "m"})),
		locked("$rv0:approve", approved),
		locked("$rv:approve", approved),
		approve(approved),
		approve(),
		approve(condition("Denied")),
		approve(approved, condition("Denied")),
		approve(condition("Approved", long, Object{"reason": "Other"})),
		approve(condition("Approved", long, Object{"status": "False"})),
		approve(approved, condition("Failed", long)),
		approve(approved),
		request{Op: patch, Subresource: "status", Body: conditions(), Manager: "signer"},
		request{Op: patch, Subresource: "status", Body: conditions(condition("Approved", Object{"reason": "Mine"}), condition("Failed", long)), Manager: "signer"},
		request{Op: patch, Body: conditions(), Manager: "user"},
		request{Op: get},
		request{Op: remove, Propagation: "Background"},
		approve(approved),
	)
}

// denying denies a request.
func denying(k *kind) scenario {
	denied := condition("Denied", long, Object{"reason": "Unknown"})
	return clusterwide("deny", k,
		approve(condition("Denied")), request{Op: get}, approve(denied), approve(condition("Approved")), approve(condition("Approved"), denied),
		request{Op: patch, Body: Object{"metadata": Object{"labels": Object{"l": "x"}}}, Manager: "user"},
		request{Op: apply, Subresource: "approval", Body: k.object("deny", conditions(condition("Failed", long))), Manager: "edict/p"},
		request{Op: get},
	)
}

// undecidable sends conditions that no request can have.
func undecidable(k *kind) scenario {
	return clusterwide("approve-nonsense", k,
		approve(condition("Approved"), condition("Denied")),
		approve(Object{"status": "True"}),
		approve(Object{"type": "Approved"}),
		approve(condition("Approved", Object{"status": "Unknown"})),
		approve(condition("Other", Object{"status": "Maybe"})),
		approve(condition("Approved"), condition("Approved", Object{"reason": "Twice"})),
		request{Op: patch, Subresource: "status", Body: conditions(condition("Approved")), Manager: "signer"},
		request{Op: patch, Subresource: "status", Body: conditions(condition("Denied")), Manager: "signer"},
		approve(condition("Other", long, Object{"status": "Unknown"})),
		approve(condition("Another", long)),
		approve(),
		request{Op: get},
	)
}

// besides sends other fields to the subresource approval than conditions.
func besides(k *kind) scenario {
	other := func(fields Object) request {
		return request{Op: patch, Subresource: "approval", Body: fields, Manager: "edict/p"}
	}
	return clusterwide("approve-besides", k,
		other(Object{"spec": Object{"signerName": "example.com/other"}}),
		other(Object{"metadata": Object{"labels": Object{"l": "x"}}}),
		other(Object{"status": Object{"certificate": "eA=="}}),
		approve(condition("Approved")),
		other(Object{"status": nil}),
		request{Op: get},
	)
}
