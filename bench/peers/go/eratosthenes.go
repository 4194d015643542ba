package main

import (
	"errors"
	"flag"
	"sync/atomic"
)

// sieve offers the stream that it lets through and, once, its prime; both channels just close if it gets none.
type sieve struct {
	stream    chan int64
	discovery chan int64
}

func newSieve(before <-chan int64, messages, moved *atomic.Int64) sieve {
	s := sieve{make(chan int64, 1), make(chan int64, 1)}
	go func() {
		prime, found := <-before
		go func() { // the discovery's service
			if found {
				s.discovery <- prime
			}
			close(s.discovery)
		}()
		if !found {
			messages.Add(2) // the stream's end and none, before the main program hears of it
			close(s.stream)
			return
		}
		received := int64(1)
		for x := range before {
			received++
			if x%prime != 0 {
				s.stream <- x
			}
		}
		moved.Add(received)
		messages.Add(received + 2) // and the stream's end and the prime
		close(s.stream)
	}()
	return s
}

// runEratosthenes gives the number of primes, their sum, and how many numbers were moved.
func runEratosthenes(n int) outcome {
	var messages, moved atomic.Int64
	generator := make(chan int64, 1)
	go func() {
		for x := int64(2); x <= int64(n); x++ {
			generator <- x
		}
		close(generator)
	}()
	var count, sum int64
	last := newSieve(generator, &messages, &moved)
	for {
		prime, found := <-last.discovery
		if !found {
			break
		}
		count++
		sum += prime
		last = newSieve(last.stream, &messages, &moved)
	}
	for range last.stream {
	}
	return outcome{messages.Load(), map[string]any{"count": count, "sum": sum, "moved": moved.Load()}}
}

func eratosthenes() program {
	var n int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&n, "n", 10_000, "the last number")
		},
		best: func() (outcome, error) { return bestEratosthenes(n) },
		run: func() (outcome, error) {
			found := runEratosthenes(n)
			if n != 10_000 {
				return found, nil
			}
			return found, errors.Join(
				expect("primes", found.result["count"].(int64), 1229),
				expect("sum", found.result["sum"].(int64), 5_736_396),
				expect("numbers moved", found.result["moved"].(int64), 777_860))
		},
	}
}
