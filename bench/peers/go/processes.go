package main

import (
	"bufio"
	"errors"
	"flag"
	"os"
	"runtime"
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
