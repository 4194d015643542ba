// ioredis uses the key-value server: what its users do. with_node.js PORT, with ioredis among the modules.
const assert = require("assert");
const Redis = require("ioredis");

(async () => {
    const r = new Redis({ port: Number(process.argv[2]), maxRetriesPerRequest: 1 });
    await r.flushall();
    assert.equal(await r.set("a", 1, "EX", 100), "OK");
    assert.equal(await r.get("a"), "1");
    assert.equal(await r.set("a", 2, "NX"), null);
    assert.equal(await r.incr("a"), 2);
    assert.deepEqual(await r.mget("a", "none"), ["2", null]);
    const answers = await r.multi().set("m", 1).incr("m").get("m").exec();
    assert.deepEqual(answers, [[null, "OK"], [null, 2], [null, "2"]]);
    const many = r.pipeline();
    for (let number = 0; number < 2000; number++) many.set(`many:${number}`, number);
    assert.ok((await many.exec()).every(([error, answer]) => error === null && answer === "OK"));
    const keys = new Set();
    for await (const some of r.scanStream({ match: "many:*", count: 100 })) some.forEach((key) => keys.add(key));
    assert.equal(keys.size, 2000);
    const other = r.duplicate();
    await r.watch("w");
    await other.set("w", 1);
    assert.equal(await r.multi().set("w", 2).exec(), null);
    const bytes = Buffer.from([...Array(256).keys()]);
    await r.set("bytes", bytes);
    assert.deepEqual(await r.getBuffer("bytes"), bytes);
    await assert.rejects(r.incr("bytes"), /not an integer/);
    await assert.rejects(r.call("NONSENSE", "x"), /unknown command/);
    assert.ok((await r.info()).includes("redis_version:7.0.15"));
    assert.equal(await r.client("SETNAME", "me"), "OK");
    console.log("ioredis", require("ioredis/package.json").version, "as its users expect");
    other.disconnect();
    await r.quit();
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
