package main

import (
	"errors"
	"flag"
	"sync"
	"sync/atomic"
)

// boundedBuffer is a monitor; each producer and each consumer has a service of its own.
type boundedBuffer struct {
	mutex            sync.Mutex
	room, elements   *sync.Cond
	a                []int64
	first, last      int
	finished, finish int
}

func newBoundedBuffer(capacity, producers int) *boundedBuffer {
	b := &boundedBuffer{a: make([]int64, capacity), finish: producers}
	b.room = sync.NewCond(&b.mutex)
	b.elements = sync.NewCond(&b.mutex)
	return b
}

// dataAcceptor begins a service for a producer.
func (b *boundedBuffer) dataAcceptor() chan<- int64 {
	in := make(chan int64, 1)
	go func() {
		for x := range in {
			b.mutex.Lock()
			for b.last-b.first == len(b.a) {
				b.room.Wait()
			}
			b.a[b.last%len(b.a)] = x
			b.last++
			b.mutex.Unlock()
			b.elements.Signal()
		}
		b.mutex.Lock()
		b.finished++
		b.mutex.Unlock()
		b.elements.Broadcast()
	}()
	return in
}

// dataSource begins a service for a consumer.
func (b *boundedBuffer) dataSource() <-chan int64 {
	out := make(chan int64, 1)
	go func() {
		defer close(out)
		for {
			b.mutex.Lock()
			for b.first == b.last && b.finished < b.finish {
				b.elements.Wait()
			}
			if b.first == b.last {
				b.mutex.Unlock()
				return
			}
			x := b.a[b.first%len(b.a)]
			b.first++
			b.mutex.Unlock()
			b.room.Signal()
			out <- x
		}
	}()
	return out
}

type tally struct{ count, sum int64 }

func producerConsumer() program {
	var n, m, k, c int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&n, "n", 1, "producers")
			flags.IntVar(&m, "m", 1, "consumers")
			flags.IntVar(&k, "k", 1_000_000, "elements of each producer")
			flags.IntVar(&c, "c", 10, "capacity of the buffer")
		},
		best: func() (outcome, error) { return bestProducerConsumer(n, m, k, c) },
		run: func() (outcome, error) {
			var messages atomic.Int64
			buffer := newBoundedBuffer(c, n)
			for range n {
				acceptor := buffer.dataAcceptor()
				go func() {
					for x := int64(1); x <= int64(k); x++ {
						acceptor <- x
					}
					messages.Add(int64(k) + 1)
					close(acceptor)
				}()
			}
			tallies := make([]chan tally, m)
			for i := range m {
				source := buffer.dataSource()
				tallies[i] = make(chan tally, 1)
				go func() {
					var t tally
					for x := range source {
						t.count++
						t.sum += x
					}
					messages.Add(t.count + 2) // the end of the source and the tally
					tallies[i] <- t
				}()
			}
			var all tally
			for _, received := range tallies {
				t := <-received
				all.count += t.count
				all.sum += t.sum
			}
			elements, last := int64(n)*int64(k), int64(k)
			return outcome{messages.Load(), map[string]any{"count": all.count, "sum": all.sum}}, errors.Join(
				expect("count", all.count, elements),
				expect("sum", all.sum, int64(n)*last*(last+1)/2))
		},
	}
}
