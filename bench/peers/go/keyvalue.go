package main

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
)

const (
	longestKey       = 250
	mostKeys         = 1_000_000
	mostSubscription = 1000
)

// store is what all clients of the key-value server share.
type store struct {
	lock     sync.RWMutex
	values   map[string]string
	watchers map[string]map[*watcher]struct{}
}

// watcher is told that its key has changed; what to, it looks up itself, so that nobody waits for it.
type watcher struct {
	key     string
	changed chan struct{}
	done    chan struct{}
}

// notify is called with the lock.
func (s *store) notify(key string) {
	for w := range s.watchers[key] {
		select {
		case w.changed <- struct{}{}:
		default: // it has not looked yet
		}
	}
}

func (s *store) get(key string) (string, bool) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	value, found := s.values[key]
	return value, found
}

func (s *store) set(key, value string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if _, found := s.values[key]; !found && len(s.values) >= mostKeys {
		return false
	}
	s.values[key] = value
	s.notify(key)
	return true
}

func (s *store) remove(key string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if _, found := s.values[key]; !found {
		return false
	}
	delete(s.values, key)
	s.notify(key)
	return true
}

func (s *store) watch(key string) *watcher {
	w := &watcher{key, make(chan struct{}, 1), make(chan struct{})}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.watchers[key] == nil {
		s.watchers[key] = map[*watcher]struct{}{}
	}
	s.watchers[key][w] = struct{}{}
	return w
}

func (s *store) dismiss(w *watcher) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.watchers[w.key], w)
	if len(s.watchers[w.key]) == 0 {
		delete(s.watchers, w.key)
	}
	close(w.done)
}

// guest is a client.
type guest struct {
	store    *store
	reader   *bufio.Reader
	lock     sync.Mutex // of the writer
	writer   *bufio.Writer
	watchers map[string]*watcher
}

func (g *guest) serve(connection net.Conn) {
	defer func() {
		connection.Close()
		for _, w := range g.watchers {
			g.store.dismiss(w)
		}
	}()
	for {
		line, err := g.reader.ReadSlice('\n')
		if err != nil {
			return
		}
		answer, ok := g.obey(strings.TrimRight(string(line), "\r\n"))
		if !ok {
			g.flush()
			return
		}
		g.say(answer, g.reader.Buffered() == 0)
	}
}

func (g *guest) flush() {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.writer.Flush()
}

func (g *guest) say(line string, flush bool) {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.writer.WriteString(line)
	g.writer.WriteByte('\n')
	if flush {
		g.writer.Flush()
	}
}

func (g *guest) obey(line string) (string, bool) {
	command, rest, _ := strings.Cut(line, " ")
	key, value, hasValue := strings.Cut(rest, " ")
	switch {
	case line == "QUIT":
		return "", false
	case key == "" || len(key) > longestKey:
		return fmt.Sprintf("ERROR a command has a key of 1 to %d characters", longestKey), true
	case command == "SET" && hasValue:
		if !g.store.set(key, value) {
			return "ERROR no room for more keys", true
		}
		return "OK", true
	case command == "GET" && !hasValue:
		if value, found := g.store.get(key); found {
			return "VALUE " + value, true
		}
		return "NONE", true
	case command == "DEL" && !hasValue:
		if g.store.remove(key) {
			return "OK", true
		}
		return "NONE", true
	case command == "SUBSCRIBE" && !hasValue:
		return g.subscribe(key), true
	case command == "UNSUBSCRIBE" && !hasValue:
		w, found := g.watchers[key]
		if !found {
			return "NONE", true
		}
		g.store.dismiss(w)
		delete(g.watchers, key)
		return "OK", true
	}
	return "ERROR there are SET key value, and GET, DEL, SUBSCRIBE, UNSUBSCRIBE key, and QUIT", true
}

func (g *guest) subscribe(key string) string {
	if _, found := g.watchers[key]; found {
		return "OK"
	}
	if len(g.watchers) == mostSubscription {
		return "ERROR too many subscriptions"
	}
	w := g.store.watch(key)
	g.watchers[key] = w
	go func() {
		for {
			select {
			case <-w.done:
				return
			case <-w.changed:
			}
			if value, found := g.store.get(key); found {
				g.say("CHANGED "+key+" "+value, true)
			} else {
				g.say("REMOVED "+key, true)
			}
		}
	}()
	return "OK"
}

// keyValue serves the store until it is ended.
func keyValue(arguments []string) error {
	listener, err := listen("keyvalue", arguments)
	if err != nil {
		return err
	}
	store := &store{values: map[string]string{}, watchers: map[string]map[*watcher]struct{}{}}
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		g := &guest{
			store: store, reader: bufio.NewReaderSize(connection, 64*1024), writer: bufio.NewWriter(connection),
			watchers: map[string]*watcher{},
		}
		go g.serve(connection)
	}
}

// listen says where, as Drystone's servers do.
func listen(name string, arguments []string) (net.Listener, error) {
	flags := flag.NewFlagSet(name, flag.ExitOnError)
	cores := flags.Int("cores", 1, "processors to use")
	flags.Parse(arguments)
	runtime.GOMAXPROCS(*cores)
	listener, err := net.Listen("tcp", flags.Arg(0))
	if err == nil {
		fmt.Fprintf(os.Stdout, "listening on %s\n", listener.Addr())
	}
	return listener, err
}
