"""Computes the result of TrafficSimulation.dry independently: events in a heap.

    python3 check.py | diff - ../TrafficSimulation.expected
"""

import csv
import heapq
import pathlib
from collections import deque

HERE = pathlib.Path(__file__).parent
DAY = 86_400
HOUR = 3_600


def rows(name):
    with open(HERE / name) as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


class Road:
    def __init__(self, row):
        self.start, self.end = int(row["from"]), int(row["to"])
        self.free_flow, self.capacity = row["free_flow_minutes"], row["capacity_per_day"]
        self.entries = deque()  # [second, vehicles] of the last hour and of this second
        self.recent = 0         # sum of the above
        self.load = 0
        self.known = (-1, 0.0)  # second, minutes

    def minutes(self, second):
        if self.known[0] != second:
            while self.entries and self.entries[0][0] < second - HOUR:
                self.recent -= self.entries.popleft()[1]
            now = self.entries[-1][1] if self.entries and self.entries[-1][0] == second else 0
            ratio = 24 * (self.recent - now) / self.capacity
            square = ratio * ratio
            self.known = (second, self.free_flow * (1 + 0.15 * (square * square)))
        return self.known[1]

    def enter(self, second):
        seconds = max(1, int(60 * self.minutes(second) + 0.5))
        if self.entries and self.entries[-1][0] == second:
            self.entries[-1][1] += 1
        else:
            self.entries.append([second, 1])
        self.recent += 1
        self.load += 1
        return seconds


roads = {int(row["link"]): Road(row) for row in rows("links.csv")}
outgoing = {}
for number, road in roads.items():
    outgoing.setdefault(road.start, []).append(number)


def route(start, end, second):
    """Of routes that take equally long, the one that the program's search finds first: junctions in the order in
    which they are reached, roads from the last to the first."""
    distance, arriving = {start: 0.0}, {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if distance[node] >= distance.get(end, float("inf")):
            continue
        for number in reversed(outgoing[node]):
            road = roads[number]
            reach = distance[node] + road.minutes(second)
            if reach < distance.get(road.end, float("inf")):
                distance[road.end], arriving[road.end] = reach, number
                if road.end not in queue:
                    queue.append(road.end)
    links = []
    while end != start:
        links.append(arriving[end])
        end = roads[arriving[end]].start
    return links[::-1]


events = []
for row in rows("demand.csv"):
    a, b, n = int(row["from"]), int(row["to"]), int(row["trips"])
    for j in range(n):
        departure = ((2 * j + 1) * DAY // (2 * n) + 3607 * (24 * a + b)) % DAY
        events.append((departure, len(events), a, b, departure))
heapq.heapify(events)

arrived = total = 0
while events:
    second, vehicle, a, b, departure = heapq.heappop(events)
    if b is not None:
        a, b = route(a, b, second), None  # from now on, a is the roads ahead
    if a:
        heapq.heappush(events, (second + roads[a[0]].enter(second), vehicle, a[1:], None, departure))
    else:
        arrived += 1
        total += second - departure

entered = sum(road.load for road in roads.values())
minutes = int(total / arrived / 6 + 0.5) / 10
print(arrived)
print(f"vehicles arrived and entered {entered} roads; mean travel time {minutes} minutes")
print("most loaded roads:")
for number, road in sorted(roads.items(), key=lambda item: (-item[1].load, item[0]))[:10]:
    print(f"road {number}: {road.load} vehicles")
