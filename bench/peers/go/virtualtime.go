package main

import (
	"sync"
	"sync/atomic"
)

// clock is virtual time: it stands still while anything is under way and then jumps to the next sleeper.
// Under way is a goroutine that runs in this time, and a message that nobody waits for until it is handled.
type clock struct {
	now      atomic.Int64
	underWay atomic.Int64
	mutex    sync.Mutex
	due      [][]chan<- struct{} // by second
}

// begin counts something more as under way.
func (c *clock) begin() { c.underWay.Add(1) }

// end says that something is no longer under way.
func (c *clock) end() {
	if c.underWay.Add(-1) == 0 {
		c.advance()
	}
}

// sleep waits n units on a channel of the goroutine's own, with room for one.
func (c *clock) sleep(n int, wake chan struct{}) {
	moment := int(c.now.Load()) + n
	c.mutex.Lock()
	for moment >= len(c.due) {
		c.due = append(c.due, nil)
	}
	c.due[moment] = append(c.due[moment], wake)
	c.mutex.Unlock()
	c.end()
	<-wake
}

func (c *clock) advance() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for moment := int(c.now.Load()); moment < len(c.due); moment++ {
		if sleepers := c.due[moment]; len(sleepers) > 0 {
			c.now.Store(int64(moment))
			c.due[moment] = nil
			c.underWay.Add(int64(len(sleepers)))
			for _, wake := range sleepers {
				wake <- struct{}{}
			}
			return
		}
	}
}
