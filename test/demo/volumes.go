package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// placement is what the table shows of a replica.
type placement struct {
	volume, name, kind, node, group string
	status, message                 string
}

func (p placement) settled() bool {
	return p.kind == "Access" || p.status == "True" || p.status == "False"
}

func (c *cluster) placements() ([]placement, error) {
	list, err := c.list("storage.deckhouse.io/v1alpha1", "ReplicatedVolumeReplica")
	if err != nil {
		return nil, err
	}
	out := make([]placement, len(list))
	for i, u := range list {
		out[i] = placementOf(u)
	}
	slices.SortFunc(out, func(a, b placement) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

func placementOf(u unstructured.Unstructured) placement {
	spec := func(field string) string {
		s, _, _ := unstructured.NestedString(u.Object, "spec", field)
		return s
	}
	p := placement{volume: spec("replicatedVolumeName"), name: u.GetName(), kind: spec("type"), node: spec("nodeName"), group: spec("lvmVolumeGroupName")}
	if thin := spec("lvmVolumeGroupThinPoolName"); thin != "" {
		p.group += "/" + thin
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range conditions {
		if m, ok := item.(object); ok && m["type"] == "Scheduled" {
			p.status, p.message = fmt.Sprint(m["status"]), fmt.Sprint(m["message"])
		}
	}
	return p
}

// chosen is what the controller's log says of a winner.
type chosen struct {
	Msg    string `json:"msg"`
	Item   string `json:"item"`
	Score  int64  `json:"score"`
	Points []struct {
		Step   string `json:"step"`
		Points int64  `json:"points"`
	} `json:"points"`
}

func (c chosen) String() string {
	parts := make([]string, len(c.Points))
	for i, p := range c.Points {
		parts[i] = fmt.Sprintf("%s %+d", p.Step, p.Points)
	}
	if len(parts) == 0 {
		return fmt.Sprint(c.Score)
	}
	return fmt.Sprintf("%d = %s", c.Score, strings.Join(parts, ", "))
}

// scores reads, from the controller's log, why each replica stands where it
// does.
func scores(log string) (map[string]chosen, error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]chosen{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c chosen
		if json.Unmarshal(lines.Bytes(), &c) == nil && c.Msg == "chose" {
			out[c.Item] = c
		}
	}
	return out, lines.Err()
}

// untilPlaced waits until every replica has a place, or a reason why it has
// none, and shows both.
func (c *cluster) untilPlaced(what, log string) error {
	say("%s", what)
	start := time.Now()
	for {
		list, err := c.placements()
		if err != nil {
			return err
		}
		if len(list) > 0 && !slices.ContainsFunc(list, func(p placement) bool { return !p.settled() }) {
			fmt.Printf("   (after %v)\n", time.Since(start).Round(10*time.Millisecond))
			return c.showPlaced(list, log)
		}
		if time.Since(start) > time.Minute {
			return errors.New("a minute has passed, and not every replica has an answer")
		}
		select {
		case <-c.ctx.Done():
			return c.ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *cluster) showPlaced(list []placement, log string) error {
	why, err := scores(log)
	if err != nil {
		return err
	}
	s, err := c.state()
	if err != nil {
		return err
	}
	zones := map[string]string{}
	for _, n := range s.nodes {
		zones[n.GetName()] = n.GetLabels()[zoneLabel]
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 4, 3, ' ', 0)
	fmt.Fprintf(t, "   REPLICA\tTYPE\tNODE\tZONE\tGROUP\tSCORE\n")
	for _, p := range list {
		if p.status == "False" {
			fmt.Fprintf(t, "   %s\t%s\t-\t-\t-\t\n", p.name, p.kind)
			continue
		}
		score := ""
		if c, ok := why[p.name]; ok {
			score = c.String()
		}
		fmt.Fprintf(t, "   %s\t%s\t%s\t%s\t%s\t%s\n", p.name, p.kind, p.node, zones[p.node], p.group, score)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, p := range list {
		if p.status == "False" {
			fmt.Printf("   %s has no place: %s\n", p.name, p.message)
		}
	}
	return nil
}
