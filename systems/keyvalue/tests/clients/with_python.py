"""redis-py uses the key-value server: what its users do. with_python.py PORT"""

import sys

import redis

PORT = int(sys.argv[1])
for protocol in (2, 3):
    r = redis.Redis(port=PORT, decode_responses=True, protocol=protocol)
    r.flushall()
    assert r.ping() and r.set("a", 1, ex=100) and r.get("a") == "1" and 0 < r.ttl("a") <= 100
    assert r.set("a", 2, nx=True) is None and r.set("a", 2, xx=True, get=True) == "1" and r.ttl("a") == -1
    assert r.incr("a") == 3 and r.incrby("a", 10) == 13 and r.decr("a") == 12
    assert r.mset({"b": "x", "c": "y"}) and r.mget("b", "none", "c") == ["x", None, "y"]
    assert r.setnx("b", 1) is False and r.getset("b", "z") == "x" and r.getdel("b") == "z" and r.exists("b") == 0
    assert r.append("c", "zz") == 3 and r.strlen("c") == 3 and r.getrange("c", 1, 2) == "zz"
    assert (
        r.setex("d", 10, "v") and r.psetex("e", 10000, "v") and r.getex("d", persist=True) == "v" and r.ttl("d") == -1
    )
    assert r.expire("d", 100, nx=True) and not r.expire("d", 50, gt=True) and r.expiretime("d") > 0 and r.persist("d")
    assert r.rename("d", "f") and r.renamenx("f", "c") is False and r.type("f") == "string" and r.type("none") == "none"
    with r.pipeline() as p:
        p.set("p", 1).incr("p").get("p")
        assert p.execute() == [True, 2, "2"]
    with r.pipeline(transaction=False) as p:
        for number in range(2000):
            p.set(f"many:{number}", number)
        assert all(p.execute())
    assert sorted(r.scan_iter("many:*", count=100)) == sorted(f"many:{number}" for number in range(2000))
    assert len(r.keys("many:1*")) == 1111 and r.dbsize() == 2005
    with r.pipeline() as p:
        p.watch("w")
        r.set("w", 1)
        p.multi()
        p.set("w", 2)
        try:
            p.execute()
            raise SystemExit("what was watched has changed")
        except redis.WatchError:
            pass
    r.transaction(lambda p: (p.multi(), p.set("w", 3)), "w")
    assert r.get("w") == "3"
    large = "x" * 10_000_000
    assert r.set("large", large) and r.get("large") == large
    try:
        r.incr("c")
        raise SystemExit("that is no number")
    except redis.ResponseError as error:
        assert str(error) == "value is not an integer or out of range", error
    assert r.client_setname("me") and r.client_getname() == "me" and r.client_id() > 0
    assert r.config_get("append*") == {"appendfsync": "always", "appendonly": "yes"}
    assert r.info("keyspace")["db0"]["keys"] == r.dbsize() and r.info()["redis_version"] == "7.0.15"
    assert r.command_count() == len(r.command()) and r.time()[0] > 1_600_000_000 and r.flushdb()
print("redis-py", redis.__version__, "as its users expect")
