package conformance

// subresources are requests for scale and eviction.
func subresources(all map[string]*kind) []scenario {
	return []scenario{
		scaling("scale-deployment", all["Deployment"]), scaling("scale-rack", all["Rack"]), unscalable(all["ConfigMap"]), unscalable(all["Gadget"]),
		unsized(all["Rack"]), evictions("evict-without-budget", all, nil), evictions("evict-with-budget", all, Object{"disruptionsAllowed": int64(1)}),
		evictions("evict-refused", all, Object{"disruptionsAllowed": int64(0), "desiredHealthy": int64(1), "currentHealthy": int64(0)}),
		evictions("evict-not-ready", all, Object{"disruptionsAllowed": int64(0), "desiredHealthy": int64(1), "currentHealthy": int64(1)}),
		evictions("evict-unseen-budget", all, Object{"observedGeneration": nil, "disruptionsAllowed": int64(1)}), twoBudgets(all),
	}
}

func replicas(n any) Object { return Object{"spec": Object{"replicas": n}} }

// scaling scales an object, also on an old version, to nonsense, and when it is gone.
func scaling(name string, k *kind) scenario {
	locked := func(version string) Object {
		return Object{"metadata": Object{"resourceVersion": version}, "spec": Object{"replicas": int64(4)}}
	}
	return scenario{Name: name, Requests: []request{
		{Op: create, Kind: k, Name: "a", Body: k.object("a", k.base), Manager: "user"},
		{Op: scale, Kind: k, Name: "a", Body: replicas(int64(3)), Manager: "edict/p"},
		{Op: scale, Kind: k, Name: "a", Body: replicas(int64(3)), Manager: "edict/p"},
		{Op: scale, Kind: k, Name: "a", Body: locked("$rv0:a"), Manager: "edict/p"},
		{Op: scale, Kind: k, Name: "a", Body: locked("$rv:a"), Manager: "edict/p"},
		{Op: scale, Kind: k, Name: "a", Body: replicas(int64(-1)), Manager: "edict/p"},
		{Op: scale, Kind: k, Name: "a", Body: Object{"metadata": Object{"labels": Object{"l": "x"}}}, Manager: "edict/p"},
		{Op: scale, Kind: k, Name: "a", Body: replicas(int64(0)), Manager: "somebody"},
		{Op: patch, Kind: k, Name: "a", Body: Object{"metadata": Object{"labels": Object{"l": "x"}}}, Manager: "user"},
		{Op: remove, Kind: k, Name: "a", Propagation: "Background"},
		{Op: scale, Kind: k, Name: "a", Body: replicas(int64(3)), Manager: "edict/p"},
	}}
}

// unscalable scales an object of a kind without the subresource.
func unscalable(k *kind) scenario {
	return scenario{Name: "scale-" + k.resource, Requests: []request{
		{Op: create, Kind: k, Name: "a", Body: k.object("a", k.base), Manager: "user"},
		{Op: scale, Kind: k, Name: "a", Body: replicas(int64(3)), Manager: "edict/p"},
	}}
}

// unsized scales an object that does not have the field.
func unsized(k *kind) scenario {
	return scenario{Name: "scale-unsized", Requests: []request{
		{Op: create, Kind: k, Name: "a", Body: k.object("a", Object{"spec": Object{"x": int64(1)}}), Manager: "user"},
		{Op: scale, Kind: k, Name: "a", Body: replicas(int64(3)), Manager: "edict/p"},
		{Op: get, Kind: k, Name: "a"},
	}}
}

// evictions evicts Pods in several states, with a budget of a status.
func evictions(name string, all map[string]*kind, status Object) scenario {
	pods, budgets := all["Pod"], all["PodDisruptionBudget"]
	out := scenario{Name: name}
	add := func(r request) { out.Requests = append(out.Requests, r) }
	for _, pod := range []string{"running", "pending", "done", "unready"} {
		body := pods.object(pod, pods.base, Object{"metadata": Object{"labels": Object{"app": "a"}}})
		add(request{Op: create, Kind: pods, Name: pod, Body: body, Manager: "user"})
		phase, ready := map[string]string{"done": "Succeeded"}[pod], "True"
		switch pod {
		case "pending":
			continue
		case "unready":
			ready = "False"
		}
		if phase == "" {
			phase = "Running"
		}
		add(request{Op: patch, Kind: pods, Name: pod, Subresource: "status", Manager: "kubelet", Body: Object{"status": Object{
			"phase": phase, "conditions": []any{Object{"type": "Ready", "status": ready}}}}})
	}
	if status != nil {
		add(request{Op: create, Kind: budgets, Name: "b", Body: budgets.object("b", budgets.base), Manager: "user"})
		body := Object{"observedGeneration": int64(1), "disruptionsAllowed": int64(0), "currentHealthy": int64(0), "desiredHealthy": int64(0), "expectedPods": int64(1)}
		merge(body, status)
		add(request{Op: patch, Kind: budgets, Name: "b", Subresource: "status", Manager: "controller", Body: Object{"status": body}})
	}
	add(request{Op: evict, Kind: pods, Name: "running", UID: "no-such-uid"})
	for _, pod := range []string{"running", "pending", "done", "unready", "gone"} {
		add(request{Op: evict, Kind: pods, Name: pod})
		add(request{Op: get, Kind: pods, Name: pod})
		if status != nil {
			add(request{Op: get, Kind: budgets, Name: "b"})
		}
	}
	return out
}

// twoBudgets evicts a Pod that two budgets select.
func twoBudgets(all map[string]*kind) scenario {
	pods, budgets := all["Pod"], all["PodDisruptionBudget"]
	out := scenario{Name: "evict-two-budgets", Requests: []request{
		{Op: create, Kind: pods, Name: "a", Body: pods.object("a", pods.base, Object{"metadata": Object{"labels": Object{"app": "a"}}}), Manager: "user"},
		{Op: patch, Kind: pods, Name: "a", Subresource: "status", Manager: "kubelet", Body: Object{"status": Object{"phase": "Running"}}},
	}}
	for _, name := range []string{"b", "c"} {
		out.Requests = append(out.Requests, request{Op: create, Kind: budgets, Name: name, Body: budgets.object(name, budgets.base), Manager: "user"})
	}
	return scenario{Name: out.Name, Requests: append(out.Requests, request{Op: evict, Kind: pods, Name: "a"}, request{Op: get, Kind: pods, Name: "a"})}
}
