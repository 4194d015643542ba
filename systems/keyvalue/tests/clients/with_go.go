// go-redis uses the key-value server: what its users do. with_go PORT
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func check(what string, is bool) {
	if !is {
		fmt.Println("go-redis: not as expected:", what)
		os.Exit(1)
	}
}

func main() {
	for _, protocol := range []int{2, 3} {
		r := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: protocol, ClientName: "me"})
		check("FLUSHALL", r.FlushAll(ctx).Err() == nil)
		check("SET", r.Set(ctx, "a", 1, time.Minute).Val() == "OK")
		check("TTL", r.TTL(ctx, "a").Val() == time.Minute)
		check("SETNX", !r.SetNX(ctx, "a", 2, 0).Val())
		check("GET", errors.Is(r.Get(ctx, "none").Err(), redis.Nil))
		check("INCR", r.Incr(ctx, "a").Val() == 2)
		check("GETEX", r.GetEx(ctx, "a", time.Hour).Val() == "2")
		check("EXPIRE NX", !r.ExpireNX(ctx, "a", time.Hour).Val())
		check("RENAME", strings.Contains(r.Rename(ctx, "none", "b").Err().Error(), "no such key"))
		answers, err := r.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, "p", 1, 0)
			p.Incr(ctx, "p")
			return nil
		})
		check("MULTI", err == nil && len(answers) == 2 && answers[1].(*redis.IntCmd).Val() == 2)
		_, err = r.Pipelined(ctx, func(p redis.Pipeliner) error {
			for number := 0; number < 2000; number++ {
				p.Set(ctx, fmt.Sprint("many:", number), number, 0)
			}
			return nil
		})
		check("pipeline", err == nil)
		// Each SCAN may go by another connection of the pool.
		keys := map[string]bool{}
		for scan := r.Scan(ctx, 0, "many:*", 100).Iterator(); scan.Next(ctx); {
			keys[scan.Val()] = true
		}
		check("SCAN", len(keys) == 2000)
		// A counter without a lock.
		var all sync.WaitGroup
		for client := 0; client < 8; client++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for added := 0; added < 20; {
					err := r.Watch(ctx, func(tx *redis.Tx) error {
						n, err := tx.Get(ctx, "count").Int()
						if err != nil && !errors.Is(err, redis.Nil) {
							return err
						}
						_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
							p.Set(ctx, "count", n+1, 0)
							return nil
						})
						return err
					}, "count")
					if err == nil {
						added++
					} else {
						check(err.Error(), errors.Is(err, redis.TxFailedErr))
					}
				}
			}()
		}
		all.Wait()
		check("WATCH", r.Get(ctx, "count").Val() == "160")
		check("INFO", strings.Contains(r.Info(ctx).Val(), "redis_version"))
		check("CLIENT GETNAME", r.ClientGetName(ctx).Val() == "me")
		check("COMMAND", len(r.Command(ctx).Val()) > 50)
	}
	fmt.Println("go-redis as its users expect")
}
