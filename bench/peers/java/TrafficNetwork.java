import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** Mirrors Network of TrafficSimulation.dry: knows how long each road takes, finds routes and hands out passes. */
final class TrafficNetwork {
    private static final int WINDOW = 3600 + 1; // the last hour and this second
    private static final int JUNCTIONS = TrafficSimulation.JUNCTIONS;
    private static final int ROADS = TrafficSimulation.ROADS;

    /** Lets a vehicle enter its next road. */
    record Pass(SignalChannel street, int seconds) {}

    record Journey(int from, int to) {}

    /** A vehicle's communication with the network. */
    static final class Navigation {
        final Channel<Journey> depart = new Channel<>();
        final Channel<Pass> passes = new Channel<>(); // closed where the vehicle arrives
        final SignalChannel next = new SignalChannel();
    }

    private final VirtualTime time;
    private final AtomicLong messages;
    private final int[] from = new int[ROADS + 1];
    private final int[] to = new int[ROADS + 1];
    private final double[] freeFlow = new double[ROADS + 1]; // minutes
    private final double[] capacity = new double[ROADS + 1]; // vehicles a day
    private final int[][] outgoing = new int[JUNCTIONS + 1][0];
    private TrafficSimulation.Road[] roads;

    private final ReentrantLock lock = new ReentrantLock();
    private int second; // up to which these are known:
    private final int[][] entered = new int[WINDOW][ROADS + 1];
    private final int[] recent = new int[ROADS + 1];
    private final double[] minutes = new double[ROADS + 1];

    // While a route is looked for.
    private final double[] distance = new double[JUNCTIONS + 1];
    private final int[] arriving = new int[JUNCTIONS + 1];
    private final boolean[] waiting = new boolean[JUNCTIONS + 1];
    private final int[] queue = new int[JUNCTIONS];

    TrafficNetwork(VirtualTime time, AtomicLong messages, List<double[]> links) {
        this.time = time;
        this.messages = messages;
        for (double[] link : links) {
            int road = (int) link[0];
            from[road] = (int) link[1];
            to[road] = (int) link[2];
            freeFlow[road] = link[4];
            capacity[road] = link[5];
            int[] others = outgoing[from[road]];
            outgoing[from[road]] = Arrays.copyOf(others, others.length + 1);
            outgoing[from[road]][others.length] = road;
            measure(road);
        }
    }

    /** Roads and network know each other. */
    void connect(TrafficSimulation.Road[] roads) {
        this.roads = roads;
    }

    /** Begins a service for a vehicle. */
    Navigation navigation() {
        var navigation = new Navigation();
        Thread.startVirtualThread(() -> {
            byte[] route = route(navigation.depart.take());
            for (byte road : route) {
                int seconds = seconds(road);
                navigation.passes.send(new Pass(roads[road].street(), seconds));
                navigation.next.take();
            }
            // Counted before the last of them, because after that the main program may look.
            messages.addAndGet(2 + 4L * route.length); // depart, arrived; pass, next, enter, entered
            navigation.passes.close();
        });
        return navigation;
    }

    /** Begins a service for a road. */
    SignalChannel traffic(int road) {
        var isEntered = new SignalChannel();
        Thread.startVirtualThread(() -> {
            while (isEntered.take()) {
                count(road);
                time.end(); // of the vehicle's entering
            }
        });
        return isEntered;
    }

    private byte[] route(Journey journey) {
        lock.lock();
        try {
            advance();
            return findRoute(journey.from, journey.to);
        } finally {
            lock.unlock();
        }
    }

    private int seconds(int road) {
        lock.lock();
        try {
            advance();
            return Math.max(1, (int) (60 * minutes[road] + 0.5));
        } finally {
            lock.unlock();
        }
    }

    private void count(int road) {
        lock.lock();
        try {
            advance();
            entered[second % WINDOW][road]++;
        } finally {
            lock.unlock();
        }
    }

    private void measure(int road) {
        double ratio = 24 * recent[road] / capacity[road];
        ratio *= ratio;
        minutes[road] = freeFlow[road] * (1 + 0.15 * (ratio * ratio));
    }

    private void advance() {
        for (int now = time.now(); second < now; second++) {
            int[] last = entered[second % WINDOW];
            int[] next = entered[(second + 1) % WINDOW];
            for (int road = 1; road <= ROADS; road++) {
                if (last[road] != next[road]) {
                    recent[road] += last[road] - next[road];
                    measure(road);
                }
                next[road] = 0;
            }
        }
    }

    private byte[] findRoute(int start, int goal) {
        Arrays.fill(distance, Double.POSITIVE_INFINITY);
        distance[start] = 0;
        queue[0] = start;
        int first = 0;
        int length = 1;
        while (length > 0) {
            int junction = queue[first];
            waiting[junction] = false;
            first = (first + 1) % JUNCTIONS;
            length--;
            if (distance[junction] >= distance[goal]) {
                continue;
            }
            for (int road : outgoing[junction]) {
                int end = to[road];
                double reach = distance[junction] + minutes[road];
                if (reach < distance[end]) {
                    distance[end] = reach;
                    arriving[end] = road;
                    if (!waiting[end]) {
                        waiting[end] = true;
                        queue[(first + length) % JUNCTIONS] = end;
                        length++;
                    }
                }
            }
        }
        return routeFound(start, goal);
    }

    private byte[] routeFound(int start, int goal) {
        int legs = 0;
        for (int junction = goal; junction != start; junction = from[arriving[junction]]) {
            legs++;
        }
        var route = new byte[legs];
        for (int junction = goal; junction != start; junction = from[arriving[junction]]) {
            legs--;
            route[legs] = (byte) arriving[junction];
        }
        return route;
    }
}
