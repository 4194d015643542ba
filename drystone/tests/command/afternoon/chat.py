"""Two people in a chat. Argument: the server's address. Prints what the first of them is told."""
import asyncio
import sys

import websockets


async def main(address):
    url = f"ws://{address}/talk?name="
    async with websockets.connect(url + "Ann") as ann:
        print(await ann.recv())
        async with websockets.connect(url + "Zo%C3%AB") as zoe:
            print(await ann.recv())
            await ann.send('hello "you" <b>')
            print(await ann.recv())
            await zoe.send("hi")
            print(await ann.recv())
        print(await ann.recv())


asyncio.run(main(sys.argv[1]))
