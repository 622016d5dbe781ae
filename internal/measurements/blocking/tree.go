package blocking

import (
	"cmp"
	"slices"
)

// graph is who waits for whom, by places in the nodes.
type graph struct {
	nodes   []Node
	blocks  [][]int // who waits for a node
	waitsIn [][]int // for whom a node waits
}

func graphOf(nodes []Node) graph {
	g := graph{nodes: nodes, blocks: make([][]int, len(nodes)), waitsIn: make([][]int, len(nodes))}
	at := make(map[string]int, len(nodes))
	for i := range nodes {
		at[nodes[i].Session] = i
	}
	for i := range nodes {
		for _, other := range nodes[i].For {
			if j, there := at[other]; there {
				g.blocks[j], g.waitsIn[i] = append(g.blocks[j], i), append(g.waitsIn[i], j)
			}
		}
	}
	return g
}

// reach are the places that follow from some by edges, themselves included, and not beyond those
// that are known; nil: none is.
func reach(edges [][]int, known []bool, from ...int) map[int]bool {
	seen := make(map[int]bool)
	for todo := slices.Clone(from); len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[i] || known != nil && known[i] {
			continue
		}
		seen[i] = true
		todo = append(todo, edges[i]...)
	}
	return seen
}

// trees are the nodes by who is connected to whom, in the order of their first nodes.
func trees(nodes []Node) [][]Node {
	g := graphOf(nodes)
	both := make([][]int, len(nodes))
	for i := range nodes {
		both[i] = append(slices.Clone(g.blocks[i]), g.waitsIn[i]...)
	}
	var out [][]Node
	done := make([]bool, len(nodes))
	for i := range nodes {
		if done[i] {
			continue
		}
		connected := reach(both, nil, i)
		var tree []Node
		for j := range nodes {
			if connected[j] {
				done[j], tree = true, append(tree, nodes[j])
			}
		}
		out = append(out, tree)
	}
	return out
}

// Root is a session that waits for nobody and that others wait for. Where sessions wait for
// each other in a circle, it is one of these.
type Root struct {
	Node Node
	// Behind is how many sessions wait for it, by themselves or behind others.
	Behind int
	// Cycle are the sessions that wait for each other in a circle, the root first; nil: there is
	// no circle. The engine ends one of them when it detects the deadlock.
	Cycle []string
}

// Roots are the roots of a sample, the one that most sessions wait behind first. Of equals it is
// the one whose transaction is older, and then the one whose id sorts first, so that two looks
// at the same sessions name the same root.
func Roots(nodes []Node) []Root {
	g := graphOf(nodes)
	var roots []Root
	var free []int
	for i := range nodes {
		if len(g.waitsIn[i]) == 0 && len(g.blocks[i]) > 0 {
			free = append(free, i)
			roots = append(roots, Root{Node: nodes[i], Behind: len(reach(g.blocks, nil, i)) - 1})
		}
	}
	settled := reach(g.blocks, nil, free...) // who waits for somebody that may go on
	for i := range nodes {
		if settled[i] || len(g.blocks[i]) == 0 {
			continue
		}
		if circle := g.closed(i); circle != nil {
			for _, j := range circle {
				settled[j] = true
			}
			roots = append(roots, g.cycle(circle))
		}
	}
	slices.SortFunc(roots, func(a, b Root) int {
		return cmp.Or(cmp.Compare(b.Behind, a.Behind), older(a.Node, b.Node), cmp.Compare(a.Node.Session, b.Node.Session))
	})
	return roots
}

// closed are the holders of a node if all of them wait for it in turn, so that nobody outside
// holds them up; nil: they do not.
func (g graph) closed(i int) []int {
	holders, waiters := reach(g.waitsIn, nil, i), reach(g.blocks, nil, i)
	var circle []int
	for j := range g.nodes {
		if !holders[j] {
			continue
		}
		if !waiters[j] {
			return nil
		}
		circle = append(circle, j)
	}
	return circle
}

// cycle is the root of a circle: the member that most sessions wait for without being in it.
func (g graph) cycle(circle []int) Root {
	outside := func(i int) (n int) {
		for _, j := range g.blocks[i] {
			if !slices.Contains(circle, j) {
				n++
			}
		}
		return n
	}
	slices.SortFunc(circle, func(a, b int) int {
		return cmp.Or(cmp.Compare(outside(b), outside(a)), older(g.nodes[a], g.nodes[b]), cmp.Compare(g.nodes[a].Session, g.nodes[b].Session))
	})
	root := Root{Node: g.nodes[circle[0]], Behind: len(reach(g.blocks, nil, circle[0])) - 1}
	for _, i := range circle {
		root.Cycle = append(root.Cycle, g.nodes[i].Session)
	}
	return root
}

// older puts the node with the older transaction first, and unknown ones last.
func older(a, b Node) int {
	switch {
	case a.Transaction == nil && b.Transaction == nil:
		return 0
	case a.Transaction == nil:
		return 1
	case b.Transaction == nil:
		return -1
	}
	return a.Transaction.Compare(*b.Transaction)
}

// Wanted is what the sessions behind a root wait for: the lock of the one that has waited for
// the root longest.
func Wanted(nodes []Node, root Node) Node {
	var first Node
	for _, n := range nodes {
		if n.Waits == nil || !slices.Contains(n.For, root.Session) {
			continue
		}
		if first.Waits == nil || n.Waits.Before(*first.Waits) {
			first = n
		}
	}
	return first
}
