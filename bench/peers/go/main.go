// Go peers of Drystone's programs, with the same structure: a goroutine for each component's activity and for
// each service, a channel for each direction of a communication, sync's locks and conditions for monitors.
//
//	go run . PROGRAM [-cores N] [-runs N] [-warm N] [-best] [sizes]
//
// Every measured run (after one to warm up, or as many as -warm says) prints a line of JSON: the results, the
// number of messages and the time of the work itself. A wrong result ends the command with status 1. Where a
// Drystone protocol ends with a message of its own, these programs close the channel, and count that as the
// message it stands for. With -best the result is got in the quickest way instead (best.go).
//
// WordCount, ParallelJob and the servers (`PROGRAM [-cores N] ADDRESS`) are written as users of Go would write them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sort"
	"time"
)

// outcome is what one run of a program gives.
type outcome struct {
	messages int64
	result   map[string]any
}

// program has its sizes as flags; run does the work once and checks it.
type program struct {
	flags func(*flag.FlagSet)
	run   func() (outcome, error)
	best  func() (outcome, error) // in the quickest way, if that is another
}

var programs = map[string]program{
	"ProducerConsumer":  producerConsumer(),
	"Eratosthenes":      eratosthenes(),
	"TokenRing":         tokenRing(),
	"City":              city(),
	"News":              news(),
	"Library":           library(),
	"Mandelbrot":        mandelbrot(),
	"TrafficSimulation": trafficSimulation(),
	"creation":          creation(),
	"WordCount":         wordCount(),
	"ParallelJob":       parallelJob(),
	"crc32":             crc32(),
	"hash":              hash(),
	"base64":            base64(),
	"select":            selectOf8(),
	"stream":            stream(64),
	"stream_by_one":     stream(1),
	"json_parse":        jsonParse(),
	"json_write":        jsonWrite(),
	"rings":             rings(),
	"sieves":            sieves(),
	"mixed":             mixed(),
}

// What is measured by other things than the time of a run; servers run until they are ended.
var commands = map[string]func(arguments []string) error{
	"bytes":      bytesPerProcess,
	"HttpServer": httpServer,
	"KeyValue":   keyValue,
	"Joint":      joint,
}

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	name, arguments := os.Args[1], os.Args[2:]
	var err error
	if command, found := commands[name]; found {
		err = command(arguments)
	} else if program, found := programs[name]; found {
		err = measure(name, program, arguments)
	} else {
		usage()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

func usage() {
	names := []string{}
	for name := range programs {
		names = append(names, name)
	}
	for name := range commands {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Fprintln(os.Stderr, "usage: peers PROGRAM [-cores N] [-runs N] [-warm N] [-best] [sizes]; programs:", names)
	os.Exit(2)
}

func measure(name string, program program, arguments []string) error {
	flags := flag.NewFlagSet(name, flag.ExitOnError)
	cores := flags.Int("cores", 1, "processors to use")
	runs := flags.Int("runs", 1, "measured runs")
	warm := flags.Int("warm", 1, "runs before those that are measured")
	best := flags.Bool("best", false, "in the quickest way")
	program.flags(flags)
	flags.Parse(arguments)
	runtime.GOMAXPROCS(*cores)
	work := program.run
	if *best && program.best != nil {
		work = program.best
	}
	for run := 1 - *warm; run <= *runs; run++ {
		runtime.GC() // what the previous run left is not this run's work
		start := time.Now()
		outcome, err := work()
		elapsed := time.Since(start)
		if err != nil {
			return err
		}
		if run > 0 {
			printLine(map[string]any{
				"program": name, "cores": *cores, "run": run, "ms": milliseconds(elapsed),
				"messages": outcome.messages, "result": outcome.result,
			})
		}
	}
	return nil
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / 1e6
}

func printLine(line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

// expect says what differs from what a run must give.
func expect(what string, got, want int64) error {
	if got != want {
		return fmt.Errorf("%s: %d instead of %d", what, got, want)
	}
	return nil
}
