// The chat of programs/service/Chat.dry, with net/http and coder/websocket.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/coder/websocket"
)

const kept = 200

type room struct {
	sync.Mutex
	news   *sync.Cond
	events [][]byte
	last   int // the number of the last event
	names  map[int]string
	ids    int
}

func (r *room) tell(event any) {
	text, _ := json.Marshal(event)
	r.last++
	if r.events = append(r.events, text); len(r.events) > kept {
		r.events = r.events[1:]
	}
	r.news.Broadcast()
}

func (r *room) tellWhoIsHere() {
	ids := make([]int, 0, len(r.names))
	for id := range r.names {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, r.names[id])
	}
	r.tell(map[string][]string{"here": names})
}

type said struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (r *room) talk(w http.ResponseWriter, request *http.Request) {
	socket, err := websocket.Accept(w, request, nil)
	if err != nil {
		return
	}
	defer socket.CloseNow()
	context, cancel := context.WithCancel(request.Context())
	name := request.URL.Query().Get("name")
	r.Lock()
	r.ids++
	id := r.ids
	r.names[id] = name
	r.tellWhoIsHere()
	r.Unlock()
	go r.listen(context, socket)
	for {
		_, text, err := socket.Read(context)
		if err != nil {
			break
		}
		r.Lock()
		r.tell(said{name, string(text)})
		r.Unlock()
	}
	cancel()
	r.Lock()
	delete(r.names, id)
	r.tellWhoIsHere()
	r.Unlock()
}

// listen tells a browser the events that are kept, then all that follow. Who is too slow misses some.
func (r *room) listen(context context.Context, socket *websocket.Conn) {
	next := 0
	for {
		r.Lock()
		for next >= r.last && context.Err() == nil {
			r.news.Wait()
		}
		if context.Err() != nil {
			r.Unlock()
			return
		}
		next = max(next+1, r.last-len(r.events)+1)
		event := r.events[len(r.events)-1-(r.last-next)]
		r.Unlock()
		if socket.Write(context, websocket.MessageText, event) != nil {
			return
		}
	}
}

func main() {
	at := flag.String("at", "127.0.0.1:8080", "the address to serve it at")
	pages := flag.String("pages", "www", "the folder of its page")
	flag.Parse()
	r := &room{names: map[int]string{}}
	r.news = sync.NewCond(r)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /talk", r.talk)
	mux.Handle("GET /", http.FileServer(http.Dir(*pages)))
	server := &http.Server{Addr: *at, Handler: mux}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		<-signals
		server.Close()
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
