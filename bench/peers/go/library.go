package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
)

// book belongs to whoever holds the pointer, and moves with it.
type book struct {
	mutex          sync.RWMutex
	number         int
	title, content string
}

// reading is a communication with a book.
type reading struct {
	open           chan struct{}
	number         chan int
	title, content chan string
}

// read begins a service for the book's holder.
func (b *book) read() reading {
	r := reading{make(chan struct{}, 1), make(chan int, 1), make(chan string, 1), make(chan string, 1)}
	go func() {
		<-r.open
		b.mutex.RLock()
		defer b.mutex.RUnlock()
		r.number <- b.number
		r.title <- b.title
		r.content <- b.content
	}()
	return r
}

// print begins the service that makes the book what it is.
func (b *book) print() (chan<- printing, <-chan struct{}) {
	print, printed := make(chan printing, 1), make(chan struct{}, 1)
	go func() {
		p := <-print
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.number, b.title, b.content = p.number, p.title, p.content
		printed <- struct{}{}
	}()
	return print, printed
}

type printing struct {
	number         int
	title, content string
}

type entry struct {
	number    int
	title     string
	available bool
}

// lending is a communication with a library. A list ends with an entry of number 0; no book is "unavailable".
type lending struct {
	list     chan struct{}
	entries  chan entry
	lend     chan int
	lent     chan *book
	returned chan *book
}

type publicLibrary struct {
	mutex  sync.RWMutex
	home   *sync.Cond
	books  []*book // by number; nil: lent
	titles []string
	out    int
	stock  chan int
}

func newPublicLibrary(books int) *publicLibrary {
	l := &publicLibrary{books: make([]*book, books+1), titles: make([]string, books+1), stock: make(chan int, 1)}
	l.home = sync.NewCond(&l.mutex)
	for number := 1; number <= books; number++ {
		l.titles[number] = fmt.Sprint("Book ", number)
		l.books[number] = &book{}
		print, printed := l.books[number].print()
		print <- printing{number, l.titles[number], "Once upon a time"}
		<-printed
	}
	return l
}

// lending begins a service for a customer.
func (l *publicLibrary) lending() lending {
	c := lending{
		make(chan struct{}, 1), make(chan entry, 1), make(chan int, 1), make(chan *book, 1), make(chan *book, 1),
	}
	go func() {
		for range c.list {
			l.mutex.RLock()
			for number := 1; number < len(l.books); number++ {
				c.entries <- entry{number, l.titles[number], l.books[number] != nil}
			}
			l.mutex.RUnlock()
			c.entries <- entry{}
			number := <-c.lend
			l.mutex.Lock()
			lent := l.books[number]
			if lent != nil {
				l.books[number] = nil
				l.out++
			}
			l.mutex.Unlock()
			c.lent <- lent
			if lent == nil {
				continue
			}
			returned := <-c.returned
			l.mutex.Lock()
			l.books[number] = returned
			l.out--
			if l.out == 0 {
				l.home.Signal()
			}
			l.mutex.Unlock()
		}
	}()
	return c
}

// countStock begins the service that counts the books when all are back.
func (l *publicLibrary) countStock() {
	go func() {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		for l.out > 0 {
			l.home.Wait()
		}
		books := 0
		for _, book := range l.books {
			if book != nil {
				books++
			}
		}
		l.stock <- books
	}()
}

type diary struct{ lent, unavailable, wrong int64 }

func visit(libraries []lending, books int) diary {
	var d diary
	for _, library := range libraries {
		library.list <- struct{}{}
		choice := 1 + rand.IntN(books)
		for entry := range library.entries {
			if entry.number == 0 {
				break
			}
		}
		library.lend <- choice
		lent := <-library.lent
		if lent == nil {
			d.unavailable++
			continue
		}
		d.lent++
		reading := lent.read()
		reading.open <- struct{}{}
		if number := <-reading.number; number != choice {
			d.wrong++
		}
		<-reading.title
		<-reading.content
		library.returned <- lent
	}
	return d
}

func library() program {
	var n, m, b int
	return program{
		flags: func(flags *flag.FlagSet) {
			flags.IntVar(&n, "n", 1000, "customers")
			flags.IntVar(&m, "m", 10, "libraries")
			flags.IntVar(&b, "b", 10, "books of each library")
		},
		best: func() (outcome, error) { return bestLibrary(n, m, b) },
		run: func() (outcome, error) {
			libraries := make([]*publicLibrary, m)
			for k := range libraries {
				libraries[k] = newPublicLibrary(b)
			}
			diaries := make([]chan diary, n)
			for i := range diaries {
				connections := make([]lending, m)
				for k, library := range libraries {
					connections[k] = library.lending()
				}
				diaries[i] = make(chan diary, 1)
				go func() {
					diaries[i] <- visit(connections, b)
					for _, connection := range connections {
						close(connection.list)
					}
				}()
			}
			var all diary
			for _, written := range diaries {
				d := <-written
				all.lent += d.lent
				all.unavailable += d.unavailable
				all.wrong += d.wrong
			}
			home := 0
			for _, library := range libraries {
				library.countStock()
				home += <-library.stock
			}
			visits := all.lent + all.unavailable
			// A visit: list, entries, end of list, lend, answer; a book lent: open, three answers, return.
			messages := visits*int64(b+4) + all.lent*5 + int64(n) + int64(m) + 2*int64(m*b)
			result := map[string]any{"visits": visits, "lent": all.lent, "unavailable": all.unavailable, "home": home}
			return outcome{messages, result}, errors.Join(
				expect("visits", visits, int64(n)*int64(m)),
				expect("wrong books", all.wrong, 0),
				expect("books at home", int64(home), int64(m)*int64(b)))
		},
	}
}
