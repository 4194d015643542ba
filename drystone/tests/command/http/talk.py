"""Talks to a server by WebSockets. Argument: the URL of Talk."""
import asyncio
import json
import sys

import websockets


async def end(socket):
    """How the server closes."""
    try:
        return await socket.recv()
    except websockets.ConnectionClosed as closed:
        return closed.rcvd.code


async def main(url):
    async with websockets.connect(url) as socket:
        await socket.send(json.dumps({"Join": {"name": "py"}}))
        print(await socket.recv())
        for text in ["hé", "x" * 100000]:
            await socket.send(json.dumps({"Say": {"x": text}}))
            heard, again = json.loads(await socket.recv()), json.loads(await socket.recv())
            print(heard == {"Heard": {"x": text}}, again == {"Again": {"x": "py: " + text}})
        await socket.send(json.dumps({"Leave": {}}))
        print(await socket.recv())
        print(await end(socket))
    for wrong in [json.dumps({"Say": {"x": "too soon"}}), "nonsense", b"bytes"]:
        async with websockets.connect(url) as socket:
            await socket.send(wrong)
            print(await end(socket))
    try:
        async with websockets.connect(url + "/nothing"):
            pass
    except websockets.InvalidStatus as refused:
        print(refused.response.status_code)


asyncio.run(main(sys.argv[1]))
