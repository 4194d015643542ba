package main

// One goroutine serves eight clients, as in bench/programs/select.dry: it waits for the first request of any of them,
// and answers it.

const (
	selectClients  = 8
	selectRequests = 100000
)

type asking struct{ ask, answer chan int }

func (c asking) run(done chan<- int) {
	n := 0
	for range selectRequests {
		c.ask <- n
		n = <-c.answer
	}
	done <- n
}

func selectOf8() program {
	return program{flags: noFlags, run: func() (outcome, error) {
		var c [selectClients]asking
		done := make(chan int, selectClients)
		for k := range c {
			// A buffer for one message, as there.
			c[k] = asking{make(chan int, 1), make(chan int, 1)}
			go c[k].run(done)
		}
		sum := 0
		serve := func(k, n int) {
			sum += n
			c[k].answer <- n + 1
		}
		for range selectClients * selectRequests {
			select {
			case n := <-c[0].ask:
				serve(0, n)
			case n := <-c[1].ask:
				serve(1, n)
			case n := <-c[2].ask:
				serve(2, n)
			case n := <-c[3].ask:
				serve(3, n)
			case n := <-c[4].ask:
				serve(4, n)
			case n := <-c[5].ask:
				serve(5, n)
			case n := <-c[6].ask:
				serve(6, n)
			case n := <-c[7].ask:
				serve(7, n)
			}
		}
		answered := 0
		for range c {
			answered += <-done
		}
		return outcome{2 * selectClients * selectRequests, map[string]any{"sum": sum}},
			expect("the clients' answers", int64(answered), selectClients*selectRequests)
	}}
}
