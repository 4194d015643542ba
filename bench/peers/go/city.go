package main

import (
	"errors"
	"flag"
	"sync"
)

// A supply is a communication in which each request is answered by one unit.
type supply struct{ request, answer chan struct{} }

func newSupply() supply {
	return supply{make(chan struct{}, 1), make(chan struct{}, 1)}
}

// water begins a service of the river.
func water() supply {
	s := newSupply()
	go func() {
		for range s.request {
			s.answer <- struct{}{}
		}
	}()
	return s
}

type powerPlant struct {
	mutex                            sync.Mutex
	available, order, closed         *sync.Cond
	customers, waiting, energy, made int
	meter                            chan int
}

func newPowerPlant(customers int) *powerPlant {
	p := &powerPlant{customers: customers, meter: make(chan int, 1)}
	p.available = sync.NewCond(&p.mutex)
	p.order = sync.NewCond(&p.mutex)
	p.closed = sync.NewCond(&p.mutex)
	river := water()
	go p.work(river)
	go func() { // the meter's service
		p.mutex.Lock()
		for p.customers > 0 {
			p.closed.Wait()
		}
		made := p.made
		p.mutex.Unlock()
		p.meter <- made
	}()
	return p
}

// work makes one unit of energy at a time, as long as there are customers.
func (p *powerPlant) work(river supply) {
	defer close(river.request)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for {
		for p.energy >= p.waiting && p.customers > 0 {
			p.order.Wait()
		}
		if p.customers == 0 {
			return
		}
		river.request <- struct{}{}
		<-river.answer
		p.energy++
		p.made++
		p.available.Signal()
	}
}

// electricity begins a service for a house.
func (p *powerPlant) electricity() supply {
	s := newSupply()
	go func() {
		for range s.request {
			p.mutex.Lock()
			p.waiting++
			p.order.Signal()
			for p.energy == 0 {
				p.available.Wait()
			}
			p.waiting--
			p.energy--
			p.mutex.Unlock()
			s.answer <- struct{}{}
		}
		p.mutex.Lock()
		p.customers--
		if p.customers == 0 {
			p.order.Signal()
			p.closed.Signal()
		}
		p.mutex.Unlock()
	}()
	return s
}

type consumed struct{ electricity, water int }

type house struct {
	construct, destruct chan struct{}
	consumed            chan consumed
}

func newHouse(electricity, water supply, k int) house {
	h := house{make(chan struct{}, 1), make(chan struct{}, 1), make(chan consumed, 1)}
	go func() {
		var c consumed
		<-h.construct
		for range k {
			electricity.request <- struct{}{}
			water.request <- struct{}{}
			<-electricity.answer
			c.electricity++
			<-water.answer
			c.water++
		}
		<-h.destruct
		h.consumed <- c
		close(electricity.request)
		close(water.request)
	}()
	return h
}

func city() program {
	var n, k int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&n, "n", 1000, "houses")
			flags.IntVar(&k, "k", 10, "times that each asks for electricity and water")
		},
		best: func() (outcome, error) { return bestCity(n, k) },
		run: func() (outcome, error) {
			plant := newPowerPlant(n)
			houses := make([]house, n)
			for i := range houses {
				houses[i] = newHouse(plant.electricity(), water(), k)
			}
			for _, house := range houses {
				house.construct <- struct{}{}
			}
			for _, house := range houses {
				house.destruct <- struct{}{}
			}
			var all consumed
			for _, house := range houses {
				c := <-house.consumed
				all.electricity += c.electricity
				all.water += c.water
			}
			made := <-plant.meter
			want := int64(n) * int64(k)
			messages := 2*int64(all.electricity+all.water+made) + 3*int64(n) + 1
			result := map[string]any{"electricity": all.electricity, "water": all.water, "made": made}
			return outcome{messages, result}, errors.Join(
				expect("electricity", int64(all.electricity), want),
				expect("water", int64(all.water), want),
				expect("units made", int64(made), want))
		},
	}
}
