"""Talks to the halves of WebSockets. Argument: the URL of /chat."""
import asyncio
import sys

import websockets


async def end(socket):
    """How the server closes."""
    try:
        while True:
            await socket.recv()
    except websockets.ConnectionClosed as closed:
        return closed.rcvd.code


async def main(url):
    async with websockets.connect(url + "/room") as one, websockets.connect(url) as two:
        print(await one.recv(), await two.recv())
        await one.send("hé")
        print(await one.recv(), "|", await two.recv())
        await two.send(b"\0\1\2")
        print(await one.recv(), "|", await two.recv())
        await one.send("bye")
        print(await end(one))
        print(await two.recv())
        await two.send("x" * 1001)
        print(await end(two))
    async with websockets.connect(url.replace("chat", "news")) as news:
        await news.send("nobody hears it")
        print(len([await news.recv() for _ in range(4)]))
    try:
        async with websockets.connect(url.replace("chat", "stream")):
            pass
    except websockets.InvalidStatus as refused:
        print(refused.response.status_code)


asyncio.run(main(sys.argv[1]))
