// The job queue of programs/service/Jobs.dry, with net/http and database/sql.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"
)

const (
	mostTries = 3
	workers   = 4
	table     = "CREATE TABLE IF NOT EXISTS jobs(id BIGINT PRIMARY KEY, task TEXT NOT NULL, state TEXT NOT NULL, " +
		"tries BIGINT NOT NULL, result TEXT NOT NULL)"
	again   = "UPDATE jobs SET state = 'waiting' WHERE state = 'taken'"
	lastId  = "SELECT COALESCE(MAX(id), 0) FROM jobs"
	waiting = "SELECT COUNT(*) FROM jobs WHERE state = 'waiting'"
	add     = "INSERT INTO jobs VALUES($1, $2, 'waiting', 0, '') RETURNING id"
	show    = "SELECT state, tries, result FROM jobs WHERE id = $1"
	take    = "UPDATE jobs SET state = 'taken', tries = tries + 1 WHERE id = " +
		"(SELECT MIN(id) FROM jobs WHERE state = 'waiting') RETURNING id, task, tries"
	// SQLite's driver numbers parameters as they occur.
	settle = "UPDATE jobs SET state = $1, result = $2 WHERE id = $3 RETURNING id"
)

type queue struct {
	sync.Mutex
	news    *sync.Cond
	db      *sql.DB
	log     *slog.Logger
	last    int64
	waiting int64
}

func (q *queue) must(err error) {
	if err != nil {
		q.log.Error("no database", "why", err)
		os.Exit(1)
	}
}

func problem(w http.ResponseWriter, status int, why string) {
	body, _ := json.Marshal(map[string]string{"error": why})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

func (q *queue) added(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1001))
	task := strings.TrimSpace(string(body))
	if err != nil || !utf8.ValidString(task) || len(task) > 1000 {
		problem(w, http.StatusUnprocessableEntity, "a job is two numbers")
		return
	}
	q.Lock()
	defer q.Unlock()
	var id int64
	q.must(q.db.QueryRow(add, q.last+1, task).Scan(&id))
	q.last++
	q.waiting++
	q.news.Signal()
	w.Header().Set("Location", fmt.Sprintf("/jobs/%d", id))
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintln(w, id)
}

func (q *queue) shown(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	var job struct {
		State  string `json:"state"`
		Tries  int64  `json:"tries"`
		Result string `json:"result"`
	}
	if err == nil {
		err = q.db.QueryRow(show, id).Scan(&job.State, &job.Tries, &job.Result)
		if !errors.Is(err, sql.ErrNoRows) {
			q.must(err)
		}
	}
	if err != nil {
		problem(w, http.StatusNotFound, "there is no such job")
		return
	}
	body, _ := json.Marshal(job)
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

func (q *queue) taken() (id int64, task string, tries int64) {
	q.Lock()
	defer q.Unlock()
	for q.waiting == 0 {
		q.news.Wait()
	}
	q.waiting--
	q.must(q.db.QueryRow(take).Scan(&id, &task, &tries))
	return
}

func (q *queue) ended(id int64, state, result string) {
	q.Lock()
	defer q.Unlock()
	q.must(q.db.QueryRow(settle, state, result, id).Scan(&id))
	if state == "waiting" {
		q.waiting++
		q.news.Signal()
	}
}

// floorDiv rounds down, as DIV does.
func floorDiv(a, b int64) int64 {
	if d := a / b; a%b == 0 || (a < 0) == (b < 0) {
		return d
	} else {
		return d - 1
	}
}

// work does jobs until one of them ends it.
func (q *queue) work() (why any) {
	id, task, tries := q.taken()
	defer func() {
		if why = recover(); why != nil {
			if tries < mostTries {
				q.ended(id, "waiting", "")
			} else {
				q.ended(id, "failed", "")
			}
		}
	}()
	for {
		parts := strings.Split(task, " ")
		if len(parts) != 2 {
			panic("two numbers are needed")
		}
		a, err := strconv.ParseInt(parts[0], 10, 64)
		b, err2 := strconv.ParseInt(parts[1], 10, 64)
		if err != nil || err2 != nil {
			panic("two numbers are needed")
		}
		q.ended(id, "done", strconv.FormatInt(floorDiv(a, b), 10))
		id, task, tries = q.taken()
	}
}

// supervise makes a worker anew that has died, at most 1000 times a minute.
func (q *queue) supervise(worker int) {
	var recent []time.Time
	delay := 10 * time.Millisecond
	for {
		why := q.work()
		q.log.Warn("worker has died", "worker", worker, "why", why)
		now := time.Now()
		kept := recent[:0]
		for _, t := range recent {
			if now.Sub(t) < time.Minute {
				kept = append(kept, t)
			}
		}
		if recent = kept; len(recent) >= 1000 {
			q.log.Error("given up")
			os.Exit(1)
		}
		if len(recent) == 0 {
			delay = 10 * time.Millisecond
		} else if delay *= 2; delay > time.Second {
			delay = time.Second
		}
		recent = append(recent, now)
		time.Sleep(delay)
	}
}

func main() {
	at := flag.String("at", "127.0.0.1:8080", "the address to serve them at")
	driver := flag.String("driver", "sqlite3", "sqlite3 or pgx")
	database := flag.String("database", "file:jobs.db?_journal_mode=WAL&_synchronous=FULL", "where they are kept")
	flag.Parse()
	q := &queue{log: slog.New(slog.NewJSONHandler(os.Stderr, nil))}
	q.news = sync.NewCond(q)
	db, err := sql.Open(*driver, *database)
	q.must(err)
	db.SetMaxOpenConns(1)
	q.db = db
	for _, statement := range []string{table, again} {
		_, err := db.Exec(statement)
		q.must(err)
	}
	q.must(db.QueryRow(lastId).Scan(&q.last))
	q.must(db.QueryRow(waiting).Scan(&q.waiting))
	for worker := range workers {
		go q.supervise(worker + 1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /jobs", q.added)
	mux.HandleFunc("GET /jobs/{number}", q.shown)
	server := &http.Server{Addr: *at, Handler: mux}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		<-signals
		server.Shutdown(context.Background())
		os.Exit(0)
	}()
	q.log.Info("serves " + *at)
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		q.log.Error("can't serve", "why", err)
		os.Exit(1)
	}
	select {}
}
