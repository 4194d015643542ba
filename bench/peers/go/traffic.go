package main

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

const (
	junctions = 24
	roads     = 76
	hour      = 3600
	day       = 86400
	window    = hour + 1 // the last hour and this second
)

// readTable gives the numbers of each line of a file of comma-separated values below a title line.
func readTable(name string) ([][]float64, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	table := [][]float64{}
	for _, line := range lines[1:] {
		row := make([]float64, len(line))
		for i, field := range line {
			if row[i], err = strconv.ParseFloat(field, 64); err != nil {
				return nil, err
			}
		}
		table = append(table, row)
	}
	return table, nil
}

type simulation struct {
	clock    clock
	messages atomic.Int64
	network  network
	roads    [roads + 1]*road
}

// road reports who enters it to the network.
type road struct {
	mutex   sync.Mutex
	load    int
	traffic chan<- struct{}
}

// street begins a service for a vehicle: one message says that it enters.
func (r *road) street() chan<- struct{} {
	enter := make(chan struct{}, 1)
	go func() {
		<-enter
		r.mutex.Lock()
		r.load++
		r.traffic <- struct{}{}
		r.mutex.Unlock()
	}()
	return enter
}

// network knows how long each road takes.
type network struct {
	simulation         *simulation
	from, to           [roads + 1]int
	freeFlow, capacity [roads + 1]float64 // minutes, vehicles a day
	outgoing           [junctions + 1][]int

	mutex   sync.Mutex
	second  int // up to which these are known:
	entered [window][roads + 1]int
	recent  [roads + 1]int
	minutes [roads + 1]float64

	distance [junctions + 1]float64
	arriving [junctions + 1]int
	waiting  [junctions + 1]bool
	queue    [junctions]int
}

func (n *network) read(links [][]float64) {
	for _, row := range links {
		road := int(row[0])
		n.from[road], n.to[road], n.freeFlow[road], n.capacity[road] = int(row[1]), int(row[2]), row[4], row[5]
		n.outgoing[n.from[road]] = append(n.outgoing[n.from[road]], road)
		n.measure(road)
	}
}

func (n *network) measure(road int) {
	ratio := float64(24*n.recent[road]) / n.capacity[road]
	ratio *= ratio
	n.minutes[road] = n.freeFlow[road] * (1 + 0.15*(ratio*ratio))
}

func (n *network) advance() {
	for now := int(n.simulation.clock.now.Load()); n.second < now; n.second++ {
		last, next := &n.entered[n.second%window], &n.entered[(n.second+1)%window]
		for road := 1; road <= roads; road++ {
			if last[road] != next[road] {
				n.recent[road] += last[road] - next[road]
				n.measure(road)
			}
			next[road] = 0
		}
	}
}

func (n *network) findRoute(start, goal int) []uint8 {
	for junction := range n.distance {
		n.distance[junction] = math.Inf(1)
	}
	n.distance[start] = 0
	n.queue[0] = start
	for first, length := 0, 1; length > 0; {
		junction := n.queue[first]
		n.waiting[junction] = false
		first = (first + 1) % junctions
		length--
		if n.distance[junction] >= n.distance[goal] {
			continue
		}
		for _, road := range n.outgoing[junction] {
			end, reach := n.to[road], n.distance[junction]+n.minutes[road]
			if reach < n.distance[end] {
				n.distance[end], n.arriving[end] = reach, road
				if !n.waiting[end] {
					n.waiting[end] = true
					n.queue[(first+length)%junctions] = end
					length++
				}
			}
		}
	}
	legs := 0
	for junction := goal; junction != start; junction = n.from[n.arriving[junction]] {
		legs++
	}
	route := make([]uint8, legs)
	for junction := goal; junction != start; junction = n.from[n.arriving[junction]] {
		legs--
		route[legs] = uint8(n.arriving[junction])
	}
	return route
}

// pass lets a vehicle enter its next road.
type pass struct {
	street  chan<- struct{}
	seconds int
}

type journey struct{ from, to int }

// navigation is a vehicle's communication with the network.
type navigation struct {
	depart chan journey
	passes chan pass // closed where the vehicle arrives
	next   chan struct{}
}

// navigation begins a service for a vehicle.
func (n *network) navigation() navigation {
	c := navigation{make(chan journey, 1), make(chan pass, 1), make(chan struct{}, 1)}
	go func() {
		journey := <-c.depart
		n.mutex.Lock()
		n.advance()
		route := n.findRoute(journey.from, journey.to)
		n.mutex.Unlock()
		for _, road := range route {
			n.mutex.Lock()
			n.advance()
			seconds := max(1, int(60*n.minutes[road]+0.5))
			n.mutex.Unlock()
			c.passes <- pass{n.simulation.roads[road].street(), seconds}
			<-c.next
		}
		n.simulation.messages.Add(2 + 4*int64(len(route))) // pass, next, enter, entered
		close(c.passes)
	}()
	return c
}

// traffic begins a service for a road.
func (n *network) traffic(road int) chan<- struct{} {
	entered := make(chan struct{}, 1)
	go func() {
		for range entered {
			n.mutex.Lock()
			n.advance()
			n.entered[n.second%window][road]++
			n.mutex.Unlock()
			n.simulation.clock.end() // of the vehicle's entering
		}
	}()
	return entered
}

// trip is a junction's communication with a vehicle that it sends off.
type trip struct {
	drive   chan journey
	arrived chan int
}

func newVehicle(clock *clock, navigation navigation) trip {
	t := trip{make(chan journey, 1), make(chan int, 1)}
	go func() {
		wake := make(chan struct{}, 1)
		journey := <-t.drive
		departure := int(clock.now.Load())
		navigation.depart <- journey
		for pass := range navigation.passes {
			clock.begin()
			pass.street <- struct{}{}
			clock.sleep(pass.seconds, wake)
			navigation.next <- struct{}{}
		}
		t.arrived <- int(clock.now.Load()) - departure
		clock.end()
	}()
	return t
}

type departure struct{ second, to int }

type arrivals struct{ vehicles, seconds int }

// station is the main program's communication with a junction.
type station struct {
	trips    chan [3]int // from, to, number; closed: open
	arrivals chan arrivals
}

// newJunction begins a junction, which sends off the vehicles whose trips begin there.
func newJunction(s *simulation) station {
	c := station{make(chan [3]int, 1), make(chan arrivals, 1)}
	go func() {
		departures, from := []departure{}, 0
		for trips := range c.trips {
			number, to := trips[2], trips[1]
			from = trips[0]
			for j := range number {
				second := ((2*j+1)*day/(2*number) + 3607*(24*from+to)) % day
				departures = append(departures, departure{second, to})
			}
		}
		slices.SortFunc(departures, func(a, b departure) int {
			if a.second != b.second {
				return a.second - b.second
			}
			return a.to - b.to
		})
		wake := make(chan struct{}, 1)
		vehicles := []trip{}
		var all arrivals
		arrive := func(duration int) {
			vehicles = vehicles[1:]
			all.vehicles++
			all.seconds += duration
		}
		for _, departure := range departures {
			if now := int(s.clock.now.Load()); departure.second > now {
				s.clock.sleep(departure.second-now, wake)
			}
			s.clock.begin()
			vehicle := newVehicle(&s.clock, s.network.navigation())
			vehicle.drive <- journey{from, departure.to}
			vehicles = append(vehicles, vehicle)
			for waiting := true; waiting && len(vehicles) > 0; {
				select {
				case duration := <-vehicles[0].arrived:
					arrive(duration)
				default:
					waiting = false
				}
			}
		}
		s.clock.end()
		for len(vehicles) > 0 {
			arrive(<-vehicles[0].arrived)
		}
		s.messages.Add(2 * int64(all.vehicles)) // drive, arrived
		c.arrivals <- all
	}()
	return c
}

func runTraffic(data string) (outcome, error) {
	links, err := readTable(filepath.Join(data, "links.csv"))
	if err != nil {
		return outcome{}, err
	}
	demand, err := readTable(filepath.Join(data, "demand.csv"))
	if err != nil {
		return outcome{}, err
	}
	s := &simulation{}
	s.network.simulation = s
	s.network.read(links)
	for i := 1; i <= roads; i++ {
		s.roads[i] = &road{traffic: s.network.traffic(i)}
	}
	s.clock.underWay.Store(junctions)
	stations := [junctions + 1]station{}
	for i := 1; i <= junctions; i++ {
		stations[i] = newJunction(s)
	}
	for _, row := range demand {
		from, to, number := int(row[0]), int(row[1]), int(row[2])
		stations[from].trips <- [3]int{from, to, number}
	}
	for _, station := range stations[1:] {
		close(station.trips)
	}
	var all arrivals
	for _, station := range stations[1:] {
		a := <-station.arrivals
		all.vehicles += a.vehicles
		all.seconds += a.seconds
	}
	loads, most := 0, make([]int, 0, roads)
	for i, road := range s.roads[1:] {
		loads += road.load
		most = append(most, i+1)
		close(road.traffic)
	}
	slices.SortStableFunc(most, func(a, b int) int { return s.roads[b].load - s.roads[a].load })
	ten := []string{}
	for _, i := range most[:10] {
		ten = append(ten, fmt.Sprintf("%d: %d", i, s.roads[i].load))
	}
	mean := float64(all.seconds) / float64(all.vehicles) / 60
	// And for each junction its demand and its station, for each road its number and its load.
	messages := s.messages.Load() + int64(len(demand)) + 2*junctions + 3*roads
	result := map[string]any{"arrived": all.vehicles, "entered": loads, "minutes": mean, "loaded": ten}
	return outcome{messages, result}, errors.Join(
		expect("vehicles arrived", int64(all.vehicles), 360_600),
		expect("thousands of roads entered", int64(loads+500)/1000, 922),
		expect("seconds driven", int64(all.seconds), 462_942_414))
}

func trafficSimulation() program {
	var data string
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.StringVar(&data, "data", "../../../programs/siouxfalls", "folder of the data")
		},
		run: func() (outcome, error) { return runTraffic(data) },
	}
}
