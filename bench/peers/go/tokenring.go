package main

import (
	"flag"
	"sync"
)

// node counts its tokens under its lock; rounds is that of the token injected here, else 0.
type node struct {
	mutex         sync.Mutex
	change        *sync.Cond
	count, rounds int
	finished      bool
	transfer      chan struct{} // from the predecessor; closed by the finish message
	successor     chan<- struct{}
	control       chan int // rounds of a token to inject, or 0 to ask for the count
	finish        chan struct{}
	answer        chan int // the token is back, or the count
}

func newNode() *node {
	n := &node{
		transfer: make(chan struct{}, 1),
		control:  make(chan int, 1), finish: make(chan struct{}, 1), answer: make(chan int, 1),
	}
	n.change = sync.NewCond(&n.mutex)
	return n
}

func (n *node) connect(successor *node) {
	n.successor = successor.transfer
	go n.serveTransfer()
	go n.serveControl()
}

func (n *node) serveTransfer() {
	for range n.transfer {
		n.mutex.Lock()
		n.count++
		if n.count != n.rounds {
			n.successor <- struct{}{}
		} else {
			n.change.Signal()
		}
		n.mutex.Unlock()
	}
	n.mutex.Lock()
	n.finished = true
	n.change.Signal()
	if n.rounds == 0 {
		close(n.successor)
	}
	n.mutex.Unlock()
}

func (n *node) serveControl() {
	request := <-n.control
	if request > 0 {
		n.mutex.Lock()
		n.rounds = request
		n.successor <- struct{}{}
		for n.count != n.rounds {
			n.change.Wait()
		}
		n.mutex.Unlock()
		n.answer <- n.rounds
		<-n.finish
		n.mutex.Lock()
		close(n.successor)
		n.mutex.Unlock()
		<-n.control
	}
	n.mutex.Lock()
	for !n.finished {
		n.change.Wait()
	}
	count := n.count + 1
	n.mutex.Unlock()
	n.answer <- count
}

func runTokenRing(n, k int) (outcome, error) {
	nodes := make([]*node, n)
	for i := range nodes {
		nodes[i] = newNode()
	}
	for i, node := range nodes {
		node.connect(nodes[(i+1)%n])
	}
	nodes[0].control <- k
	<-nodes[0].answer
	nodes[0].finish <- struct{}{}
	hops := 0
	for _, node := range nodes {
		node.control <- 0
		hops += <-node.answer
	}
	messages := int64(hops) + 3 + 2*int64(n)
	return outcome{messages, map[string]any{"hops": hops}}, expect("hops", int64(hops), int64(n)*int64(k)+int64(n))
}

func tokenRing() program {
	var n, k int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&n, "n", 1000, "nodes")
			flags.IntVar(&k, "k", 1000, "rounds")
		},
		run: func() (outcome, error) { return runTokenRing(n, k) },
	}
}
