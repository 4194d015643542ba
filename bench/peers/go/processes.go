package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// server is the smallest component with a service: it answers each number with the next.
type server struct {
	last    int
	in, out chan int
}

func newServer() *server {
	s := &server{in: make(chan int, 1), out: make(chan int, 1)}
	go s.serve()
	return s
}

func (s *server) serve() {
	for x := range s.in {
		s.last = x
		s.out <- x + 1
	}
}

// roundTrip sends a number and checks the answer.
func (s *server) roundTrip(x int) error {
	s.in <- x
	return expect("answer", int64(<-s.out), int64(x)+1)
}

func creation() program {
	var n int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&n, "n", 1_000_000, "components, one after another")
		},
		run: func() (outcome, error) {
			start := time.Now()
			for i := range n {
				server := newServer()
				if err := server.roundTrip(i); err != nil {
					return outcome{}, err
				}
				close(server.in)
			}
			perSecond := float64(n) / time.Since(start).Seconds()
			return outcome{2 * int64(n), map[string]any{"per_second": perSecond}}, nil
		},
	}
}

// bytesPerProcess measures what resident memory grows by for each of many live servers.
func bytesPerProcess(arguments []string) error {
	flags := flag.NewFlagSet("bytes", flag.ExitOnError)
	cores := flags.Int("cores", 1, "processors to use")
	n := flags.Int("n", 1_000_000, "live components")
	flags.Parse(arguments)
	runtime.GOMAXPROCS(*cores)
	before, err := resident()
	if err != nil {
		return err
	}
	servers := make([]*server, *n)
	for i := range servers {
		servers[i] = newServer()
		if err := servers[i].roundTrip(i); err != nil {
			return err
		}
	}
	after, err := resident()
	if err != nil {
		return err
	}
	printLine(map[string]any{
		"program": "bytes", "cores": *cores, "alive": *n, "bytes": float64(after-before) / float64(*n),
	})
	runtime.KeepAlive(servers)
	return nil
}

// resident is the resident memory of this process in bytes.
func resident() (int64, error) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		if rest, found := strings.CutPrefix(scanner.Text(), "VmRSS:"); found {
			kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kilobytes * 1024, err
		}
	}
	return 0, errors.New("no VmRSS in /proc/self/status")
}

// jitter runs a small ring many times and tells how far the times vary.
func jitter(arguments []string) error {
	flags := flag.NewFlagSet("jitter", flag.ExitOnError)
	cores := flags.Int("cores", 1, "processors to use")
	runs := flags.Int("runs", 500, "measured runs")
	n := flags.Int("n", 100, "nodes")
	k := flags.Int("k", 1000, "rounds")
	flags.Parse(arguments)
	if *runs < 1 {
		return fmt.Errorf("%d runs", *runs)
	}
	runtime.GOMAXPROCS(*cores)
	times := make([]time.Duration, 0, *runs)
	for run := 0; run <= *runs; run++ {
		start := time.Now()
		if _, err := runTokenRing(*n, *k); err != nil {
			return err
		}
		if run > 0 {
			times = append(times, time.Since(start))
		}
	}
	slices.Sort(times)
	printLine(map[string]any{
		"program": "jitter", "cores": *cores, "runs": *runs, "median_ms": milliseconds(times[*runs/2]),
		"p99_ms": milliseconds(times[*runs*99/100]), "max_ms": milliseconds(times[*runs-1]),
	})
	return nil
}
