import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

/** Mirrors TrafficSimulation.dry: every trip of a day is a vehicle, every road and every junction a component. */
final class TrafficSimulation implements Program {
    static final int JUNCTIONS = 24;
    static final int ROADS = 76;
    private static final int DAY = 86400;

    private final Path data;

    TrafficSimulation(Flags flags) {
        data = Path.of(flags.text("data", "../../../programs/siouxfalls"));
    }

    /** The numbers of each line of a file of comma-separated values below a title line. */
    private List<double[]> readTable(String name) throws IOException {
        try (var lines = Files.lines(data.resolve(name))) {
            return lines.skip(1)
                    .map(line -> Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray())
                    .toList();
        }
    }

    /** Reports who enters it to the network. */
    static final class Road {
        private final ReentrantLock lock = new ReentrantLock();
        private final SignalChannel traffic;
        private int load;

        Road(SignalChannel traffic) {
            this.traffic = traffic;
        }

        /** Begins a service for a vehicle: one message says that it enters. */
        SignalChannel street() {
            var enter = new SignalChannel();
            Thread.startVirtualThread(() -> {
                enter.take();
                lock.lock();
                try {
                    load++;
                    traffic.send();
                } finally {
                    lock.unlock();
                }
            });
            return enter;
        }

        /** Of all vehicles, when they are gone. */
        int close() {
            lock.lock();
            try {
                traffic.close();
                return load;
            } finally {
                lock.unlock();
            }
        }
    }

    private static final class Vehicle {
        final Channel<TrafficNetwork.Journey> drive = new Channel<>();
        final NumberChannel arrived = new NumberChannel(); // after so many seconds
        private final VirtualTime time;

        Vehicle(VirtualTime time, TrafficNetwork.Navigation navigation) {
            this.time = time;
            Thread.startVirtualThread(() -> travel(navigation));
        }

        private void travel(TrafficNetwork.Navigation navigation) {
            var wake = new SignalChannel();
            TrafficNetwork.Journey journey = drive.take();
            int departure = time.now();
            navigation.depart.send(journey);
            for (var pass = navigation.passes.take(); pass != null; pass = navigation.passes.take()) {
                time.begin(); // of the message that nobody waits for
                pass.street().send();
                time.sleep(pass.seconds(), wake);
                navigation.next.send();
            }
            arrived.send(time.now() - departure);
            time.end();
        }
    }

    private record Trips(int from, int to, int number) {}

    private record Arrivals(long vehicles, long seconds) {}

    private record Departure(int second, int to) {}

    /** Sends off the vehicles whose trips begin there. */
    private static final class Junction {
        final Channel<Trips> trips = new Channel<>(); // closed: open
        final Channel<Arrivals> arrivals = new Channel<>();
        private final VirtualTime time;
        private final TrafficNetwork network;
        private final List<Departure> departures = new ArrayList<>();
        private final ArrayDeque<Vehicle> vehicles = new ArrayDeque<>();
        private int from;
        private long arrived;
        private long driven;

        Junction(VirtualTime time, TrafficNetwork network) {
            this.time = time;
            this.network = network;
            Thread.startVirtualThread(this::serve);
        }

        private void serve() {
            for (Trips t = trips.take(); t != null; t = trips.take()) {
                plan(t);
            }
            departures.sort(Comparator.comparingInt(Departure::second).thenComparingInt(Departure::to));
            var wake = new SignalChannel();
            for (Departure departure : departures) {
                int now = time.now();
                if (departure.second > now) {
                    time.sleep(departure.second - now, wake);
                }
                time.begin();
                var vehicle = new Vehicle(time, network.navigation());
                vehicle.drive.send(new TrafficNetwork.Journey(from, departure.to));
                vehicles.add(vehicle);
                while (!vehicles.isEmpty() && vehicles.peek().arrived.isReady()) {
                    remove();
                }
            }
            time.end();
            while (!vehicles.isEmpty()) {
                remove();
            }
            arrivals.send(new Arrivals(arrived, driven));
        }

        private void plan(Trips trips) {
            from = trips.from;
            for (int j = 0; j < trips.number; j++) {
                int second = ((2 * j + 1) * DAY / (2 * trips.number) + 3607 * (24 * from + trips.to)) % DAY;
                departures.add(new Departure(second, trips.to));
            }
        }

        private void remove() {
            driven += vehicles.remove().arrived.take();
            arrived++;
        }
    }

    @Override
    public Outcome run() throws IOException {
        List<double[]> demand = readTable("demand.csv");
        var messages = new AtomicLong();
        var time = new VirtualTime(JUNCTIONS);
        var network = new TrafficNetwork(time, messages, readTable("links.csv"));
        var roads = new Road[ROADS + 1];
        for (int i = 1; i <= ROADS; i++) {
            roads[i] = new Road(network.traffic(i));
        }
        network.connect(roads);
        var junctions = new Junction[JUNCTIONS + 1];
        for (int i = 1; i <= JUNCTIONS; i++) {
            junctions[i] = new Junction(time, network);
        }
        for (double[] row : demand) {
            var trips = new Trips((int) row[0], (int) row[1], (int) row[2]);
            junctions[trips.from].trips.send(trips);
        }
        for (int i = 1; i <= JUNCTIONS; i++) {
            junctions[i].trips.close();
        }
        long vehicles = 0;
        long seconds = 0;
        for (int i = 1; i <= JUNCTIONS; i++) {
            Arrivals arrivals = junctions[i].arrivals.take();
            vehicles += arrivals.vehicles;
            seconds += arrivals.seconds;
        }
        var load = new int[ROADS + 1];
        for (int i = 1; i <= ROADS; i++) {
            load[i] = roads[i].close();
        }
        // Drive and arrived of each vehicle; and for each junction its demand and its station, for each road its number
        // and its load.
        messages.addAndGet(2 * vehicles + demand.size() + 2 * JUNCTIONS + 3 * ROADS);
        return outcome(messages.get(), vehicles, seconds, load);
    }

    private static Outcome outcome(long messages, long vehicles, long seconds, int[] load) {
        long entered = Arrays.stream(load).sum();
        List<String> loaded = IntStream.rangeClosed(1, ROADS).boxed()
                .sorted(Comparator.comparingInt((Integer road) -> load[road]).reversed())
                .limit(10)
                .map(road -> road + ": " + load[road])
                .toList();
        WrongResult.unless("vehicles arrived", vehicles, 360_600);
        WrongResult.unless("thousands of roads entered", (entered + 500) / 1000, 922);
        WrongResult.unless("seconds driven", seconds, 462_942_414);
        return new Outcome(messages, Map.of(
                "arrived", vehicles, "entered", entered, "minutes", seconds / 60.0 / vehicles, "loaded", loaded));
    }
}
