package main

// What is quickest in Go, by flag -best: locks and direct calls instead of services, larger channels. The results are
// those of the mirrors, the messages are not.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
)

// bestProducerConsumer needs no buffer besides the channel.
func bestProducerConsumer(n, m, k, c int) (outcome, error) {
	elements := make(chan int64, c)
	var producers sync.WaitGroup
	for range n {
		producers.Go(func() {
			for x := int64(1); x <= int64(k); x++ {
				elements <- x
			}
		})
	}
	tallies := make(chan tally, m)
	for range m {
		go func() {
			var t tally
			for x := range elements {
				t.count++
				t.sum += x
			}
			tallies <- t
		}()
	}
	producers.Wait()
	close(elements)
	var all tally
	for range m {
		t := <-tallies
		all.count += t.count
		all.sum += t.sum
	}
	last := int64(k)
	return outcome{0, map[string]any{"count": all.count, "sum": all.sum}}, errors.Join(
		expect("count", all.count, int64(n)*last), expect("sum", all.sum, int64(n)*last*(last+1)/2))
}

// bestEratosthenes has room for many numbers between two sieves, and a sieve tells its prime by being made.
func bestEratosthenes(n int) (outcome, error) {
	const capacity = 100
	stream := make(chan int64, capacity)
	go func(out chan<- int64) {
		for x := int64(2); x <= int64(n); x++ {
			out <- x
		}
		close(out)
	}(stream)
	var count, sum int64
	for {
		prime, found := <-stream
		if !found {
			break
		}
		count++
		sum += prime
		next := make(chan int64, capacity)
		go func(in <-chan int64) {
			for x := range in {
				if x%prime != 0 {
					next <- x
				}
			}
			close(next)
		}(stream)
		stream = next
	}
	return outcome{0, map[string]any{"count": count, "sum": sum}}, nil
}

// bestCity has a goroutine for each house; the plant makes a unit when it is called.
func bestCity(n, k int) (outcome, error) {
	var river, plant sync.Mutex
	var flowed, made int
	water := func() {
		river.Lock()
		flowed++
		river.Unlock()
	}
	electricity := func() {
		plant.Lock()
		water()
		made++
		plant.Unlock()
	}
	consumption := make([]consumed, n)
	var houses sync.WaitGroup
	for i := range consumption {
		houses.Go(func() {
			for range k {
				electricity()
				consumption[i].electricity++
				water()
				consumption[i].water++
			}
		})
	}
	houses.Wait()
	var all consumed
	for _, c := range consumption {
		all.electricity += c.electricity
		all.water += c.water
	}
	want := int64(n) * int64(k)
	result := map[string]any{"electricity": all.electricity, "water": all.water, "made": made}
	return outcome{0, result}, errors.Join(
		expect("electricity", int64(all.electricity), want), expect("water", int64(all.water), want),
		expect("units made", int64(made), want), expect("water that flowed", int64(flowed), 2*want))
}

// bestNews lets reporters and customers work on the centre's texts themselves.
func bestNews(n, m, k int) (outcome, error) {
	centre := newNewsCentre(m)
	archives := make([]archive, n)
	var customers sync.WaitGroup
	for i := range archives {
		customers.Go(func() {
			a := &archives[i]
			for complete := false; !complete; {
				centre.mutex.RLock()
				for a.count == int64(len(centre.texts)) && centre.finished < m {
					centre.change.Wait()
				}
				texts := centre.texts[a.count:]
				complete = centre.finished == m
				centre.mutex.RUnlock()
				for _, text := range texts {
					a.count++
					a.mark = (a.mark*65536 + int64(text[0])*256 + int64(text[1])) % 2147483647
				}
			}
		})
	}
	for reporter := range m {
		go func() {
			for i := range k {
				text := string(rune(65+reporter)) + string(rune(65+i)) + " is the latest news"
				centre.mutex.Lock()
				centre.texts = append(centre.texts, text)
				centre.mutex.Unlock()
				centre.change.Broadcast()
			}
			centre.mutex.Lock()
			centre.finished++
			centre.mutex.Unlock()
			centre.change.Broadcast()
		}()
	}
	customers.Wait()
	var delivered int64
	var wrong error
	for _, a := range archives {
		delivered += a.count
		wrong = errors.Join(wrong, expect("texts of a customer", a.count, int64(m)*int64(k)),
			expect("mark", a.mark, archives[0].mark))
	}
	return outcome{0, map[string]any{"delivered": delivered, "same": wrong == nil}}, wrong
}

// bestVisit calls the libraries.
func bestVisit(libraries []*publicLibrary) diary {
	var d diary
	for _, l := range libraries {
		choice := 1 + rand.IntN(len(l.books)-1)
		entries := make([]entry, 0, len(l.books))
		l.mutex.RLock()
		for number := 1; number < len(l.books); number++ {
			entries = append(entries, entry{number, l.titles[number], l.books[number] != nil})
		}
		l.mutex.RUnlock()
		l.mutex.Lock()
		lent := l.books[entries[choice-1].number]
		l.books[choice] = nil
		l.mutex.Unlock()
		if lent == nil {
			d.unavailable++
			continue
		}
		d.lent++
		if lent.number != choice || lent.title != entries[choice-1].title || lent.content == "" {
			d.wrong++
		}
		l.mutex.Lock()
		l.books[choice] = lent
		l.mutex.Unlock()
	}
	return d
}

// bestLibrary has a goroutine for each customer.
func bestLibrary(n, m, b int) (outcome, error) {
	libraries := make([]*publicLibrary, m)
	for i := range libraries {
		l := &publicLibrary{books: make([]*book, b+1), titles: make([]string, b+1)}
		for number := 1; number <= b; number++ {
			l.titles[number] = fmt.Sprint("Book ", number)
			l.books[number] = &book{number: number, title: l.titles[number], content: "Once upon a time"}
		}
		libraries[i] = l
	}
	diaries := make([]diary, n)
	var customers sync.WaitGroup
	for i := range diaries {
		customers.Go(func() { diaries[i] = bestVisit(libraries) })
	}
	customers.Wait()
	var all diary
	for _, d := range diaries {
		all.lent += d.lent
		all.unavailable += d.unavailable
		all.wrong += d.wrong
	}
	home := 0
	for _, l := range libraries {
		for _, book := range l.books {
			if book != nil {
				home++
			}
		}
	}
	visits := all.lent + all.unavailable
	result := map[string]any{"visits": visits, "lent": all.lent, "unavailable": all.unavailable, "home": home}
	return outcome{0, result}, errors.Join(
		expect("visits", visits, int64(n)*int64(m)), expect("wrong books", all.wrong, 0),
		expect("books at home", int64(home), int64(m)*int64(b)))
}
