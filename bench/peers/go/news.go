package main

import (
	"errors"
	"flag"
	"sync"
)

// newsCentre keeps all texts; reporters write under the lock, customers' services share it.
type newsCentre struct {
	mutex               sync.RWMutex
	change              *sync.Cond // of the shared lock
	texts               []string
	finished, reporters int
}

func newNewsCentre(reporters int) *newsCentre {
	c := &newsCentre{reporters: reporters}
	c.change = sync.NewCond(c.mutex.RLocker())
	return c
}

// desk begins a service for a reporter.
func (c *newsCentre) desk() chan<- string {
	in := make(chan string, 1)
	go func() {
		for text := range in {
			c.mutex.Lock()
			c.texts = append(c.texts, text)
			c.mutex.Unlock()
			c.change.Broadcast()
		}
		c.mutex.Lock()
		c.finished++
		c.mutex.Unlock()
		c.change.Broadcast()
	}()
	return in
}

// subscription begins a service for a customer.
func (c *newsCentre) subscription() <-chan string {
	out := make(chan string, 1)
	go func() {
		defer close(out)
		next := 0
		for {
			c.mutex.RLock()
			for next == len(c.texts) && c.finished < c.reporters {
				c.change.Wait()
			}
			texts, complete := c.texts[next:], c.finished == c.reporters
			c.mutex.RUnlock()
			for _, text := range texts {
				out <- text
			}
			next += len(texts)
			if complete {
				return
			}
		}
	}()
	return out
}

// archive tells how many texts came; equal marks stand for equal texts in the same order.
type archive struct{ count, mark int64 }

func news() program {
	var n, m, k int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&n, "n", 1000, "customers")
			flags.IntVar(&m, "m", 10, "reporters")
			flags.IntVar(&k, "k", 10, "texts of each reporter")
		},
		best: func() (outcome, error) { return bestNews(n, m, k) },
		run: func() (outcome, error) {
			centre := newNewsCentre(m)
			archives := make([]chan archive, n)
			for i := range archives {
				subscription := centre.subscription()
				archives[i] = make(chan archive, 1)
				go func() {
					var a archive
					for text := range subscription {
						a.count++
						a.mark = (a.mark*65536 + int64(text[0])*256 + int64(text[1])) % 2147483647
					}
					archives[i] <- a
				}()
			}
			for reporter := range m {
				desk, assignment := centre.desk(), make(chan int, 1)
				go func() {
					reporter := <-assignment
					for i := range k {
						desk <- string(rune(65+reporter)) + string(rune(65+i)) + " is the latest news"
					}
					close(desk)
				}()
				assignment <- reporter
			}
			var delivered, first int64
			var wrong error
			for i, received := range archives {
				a := <-received
				delivered += a.count
				if i == 0 {
					first = a.mark
				}
				wrong = errors.Join(wrong,
					expect("texts of a customer", a.count, int64(m)*int64(k)), expect("mark", a.mark, first))
			}
			messages := delivered + 2*int64(n) + int64(m)*int64(k) + 2*int64(m)
			return outcome{messages, map[string]any{"delivered": delivered, "same": wrong == nil}}, wrong
		},
	}
}
