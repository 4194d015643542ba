package main

import (
	"errors"
	"flag"
)

// atOnce does the same work n times, each in a goroutine of its own.
func atOnce(n int, work func() (outcome, error)) ([]outcome, error) {
	type end struct {
		outcome
		error
	}
	ends := make(chan end, n)
	for range n {
		go func() {
			outcome, err := work()
			ends <- end{outcome, err}
		}()
	}
	var outcomes []outcome
	var failed error
	for range n {
		end := <-ends
		outcomes = append(outcomes, end.outcome)
		failed = errors.Join(failed, end.error)
	}
	return outcomes, failed
}

// rings has tokens in several rings that have nothing to do with each other.
func rings() program {
	var r, n, k int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&r, "r", 8, "rings")
			flags.IntVar(&n, "n", 1000, "nodes of each")
			flags.IntVar(&k, "k", 125, "rounds in each")
		},
		run: func() (outcome, error) {
			all, err := atOnce(r, func() (outcome, error) { return runTokenRing(n, k) })
			hops, messages := 0, int64(0)
			for _, ring := range all {
				hops += ring.result["hops"].(int)
				messages += ring.messages + 2
			}
			return outcome{messages, map[string]any{"hops": hops}}, err
		},
	}
}

// sieves has several pipelines that find the same prime numbers.
func sieves() program {
	var p, n int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&p, "p", 8, "pipelines")
			flags.IntVar(&n, "n", 4000, "the last number")
		},
		run: func() (outcome, error) {
			all, err := atOnce(p, func() (outcome, error) { return runEratosthenes(n), nil })
			var count, sum, messages int64
			for _, pipeline := range all {
				count += pipeline.result["count"].(int64)
				sum += pipeline.result["sum"].(int64)
				messages += pipeline.messages + 2
			}
			return outcome{messages, map[string]any{"count": count, "sum": sum}}, err
		},
	}
}

// mixed has one goroutine that computes beside many pairs of which one asks and the other answers.
func mixed() program {
	var p, k, n int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&p, "p", 5000, "pairs")
			flags.IntVar(&k, "k", 1000, "questions in each")
			flags.IntVar(&n, "n", 16_000_000, "steps of the one that computes")
		},
		run: func() (outcome, error) {
			computed := make(chan int, 1)
			go func() {
				x := 0
				for i := 1; i <= n; i++ {
					x = (x*31 + i) % 1_000_003
				}
				computed <- x
			}()
			said := make(chan int, p)
			for range p {
				go func() { said <- talk(k) }()
			}
			sum := 0
			for range p {
				sum += <-said
			}
			messages := int64(p)*(2*int64(k)+2) + 4
			return outcome{messages, map[string]any{"said": sum, "computed": <-computed}}, nil
		},
	}
}

// talk asks a goroutine of its own k questions; the sum of the answers.
func talk(k int) int {
	questions, answers := make(chan int, 1), make(chan int, 1)
	go func() {
		for x := range questions {
			answers <- x + 1
		}
	}()
	sum := 0
	for i := 1; i <= k; i++ {
		questions <- i
		sum += <-answers
	}
	close(questions)
	return sum
}
