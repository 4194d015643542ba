package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	longestBody = 1_000_000
	longestName = 1000
	mostItems   = 100_000
	listed      = 100
)

type item struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Amount int64  `json:"amount"`
}

// stock is the items, and what has been asked.
type stock struct {
	requests      atomic.Int64
	lock          sync.RWMutex
	items         map[int64]item
	last, changes int64
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

func problem(w http.ResponseWriter, status int, reason string) {
	answer(w, status, map[string]string{"error": reason})
}

func readItem(w http.ResponseWriter, r *http.Request) (item, error) {
	var read struct {
		Name   *string `json:"name"`
		Amount *int64  `json:"amount"`
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return item{}, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return item{}, errors.New("nothing more is expected")
	}
	if read.Name == nil || read.Amount == nil || len(*read.Name) > longestName {
		return item{}, errors.New("an item has a name and an amount")
	}
	return item{Name: *read.Name, Amount: *read.Amount}, nil
}

func (s *stock) put(w http.ResponseWriter, r *http.Request, id func() int64) {
	read, err := readItem(w, r)
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		problem(w, status, err.Error())
		return
	}
	s.lock.Lock()
	read.ID = id()
	_, found := s.items[read.ID]
	full := !found && len(s.items) == mostItems
	if !full {
		s.items[read.ID] = read
		s.changes++
	}
	s.lock.Unlock()
	switch {
	case full:
		problem(w, http.StatusInsufficientStorage, "there is no room for more items")
	case found:
		answer(w, http.StatusOK, read)
	default:
		answer(w, http.StatusCreated, read)
	}
}

func (s *stock) free() int64 {
	for {
		s.last++
		if _, found := s.items[s.last]; !found {
			return s.last
		}
	}
}

func (s *stock) list(w http.ResponseWriter, _ *http.Request) {
	s.lock.RLock()
	items := make([]item, 0, len(s.items))
	for _, item := range s.items {
		items = append(items, item)
	}
	s.lock.RUnlock()
	slices.SortFunc(items, func(a, b item) int { return int(a.ID - b.ID) })
	answer(w, http.StatusOK, map[string]any{"items": items[:min(listed, len(items))]})
}

func (s *stock) counters(w http.ResponseWriter, _ *http.Request) {
	s.lock.RLock()
	counters := map[string]any{"requests": s.requests.Load(), "changes": s.changes, "items": len(s.items)}
	s.lock.RUnlock()
	answer(w, http.StatusOK, counters)
}

// one serves an item that is named in the path.
func (s *stock) one(serve func(http.ResponseWriter, *http.Request, int64)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil || id < 1 {
			problem(w, http.StatusNotFound, "there are /items, /items/NUMBER and /counters")
			return
		}
		serve(w, r, id)
	}
}

func (s *stock) get(w http.ResponseWriter, _ *http.Request, id int64) {
	s.lock.RLock()
	item, found := s.items[id]
	s.lock.RUnlock()
	if !found {
		problem(w, http.StatusNotFound, "no such item")
		return
	}
	answer(w, http.StatusOK, item)
}

func (s *stock) remove(w http.ResponseWriter, _ *http.Request, id int64) {
	s.lock.Lock()
	item, found := s.items[id]
	if found {
		delete(s.items, id)
		s.changes++
	}
	s.lock.Unlock()
	if !found {
		problem(w, http.StatusNotFound, "no such item")
		return
	}
	answer(w, http.StatusOK, item)
}

// httpServer serves the stock until it is ended.
func httpServer(arguments []string) error {
	listener, err := listen("http", arguments)
	if err != nil {
		return err
	}
	s := &stock{items: map[int64]item{}}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /items", s.list)
	routes.HandleFunc("POST /items", func(w http.ResponseWriter, r *http.Request) { s.put(w, r, s.free) })
	routes.HandleFunc("GET /items/{id}", s.one(s.get))
	routes.HandleFunc("PUT /items/{id}", s.one(func(w http.ResponseWriter, r *http.Request, id int64) {
		s.put(w, r, func() int64 { return id })
	}))
	routes.HandleFunc("DELETE /items/{id}", s.one(s.remove))
	routes.HandleFunc("GET /counters", s.counters)
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		routes.ServeHTTP(w, r)
	})
	server := http.Server{Handler: counted, ReadTimeout: 30 * time.Second, MaxHeaderBytes: 64 * 1024}
	return server.Serve(listener)
}
