import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Mirrors City.dry: houses live on electricity and water; the power plant itself needs water to make electricity. */
final class City implements Program {
    private final int size;
    private final int times;

    City(Flags flags) {
        size = flags.number("n", 1000);
        times = flags.number("k", 10);
    }

    /** A communication in which each request is answered by one unit. */
    private static final class Supply {
        final SignalChannel request = new SignalChannel();
        final SignalChannel answer = new SignalChannel();
    }

    /** The river has nothing but its services. */
    private static Supply water() {
        var supply = new Supply();
        Thread.startVirtualThread(() -> {
            while (supply.request.take()) {
                supply.answer.send();
            }
        });
        return supply;
    }

    private static final class PowerPlant {
        final NumberChannel meter = new NumberChannel();
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition available = lock.newCondition();
        private final Condition order = lock.newCondition();
        private final Condition closed = lock.newCondition();
        private int customers;
        private int waiting;
        private int energy;
        private long made;

        PowerPlant(int customers) {
            this.customers = customers;
            Supply river = water();
            Thread.startVirtualThread(() -> work(river));
            Thread.startVirtualThread(this::serveMeter);
        }

        Supply electricity() {
            var supply = new Supply();
            Thread.startVirtualThread(() -> {
                while (supply.request.take()) {
                    consume();
                    supply.answer.send();
                }
                leave();
            });
            return supply;
        }

        /** Makes one unit of energy at a time, as long as there are customers. */
        private void work(Supply river) {
            lock.lock();
            try {
                while (true) {
                    while (energy >= waiting && customers > 0) {
                        order.awaitUninterruptibly();
                    }
                    if (customers == 0) {
                        break;
                    }
                    river.request.send();
                    river.answer.take();
                    energy++;
                    made++;
                    available.signal();
                }
            } finally {
                lock.unlock();
            }
            river.request.close();
        }

        private void consume() {
            lock.lock();
            try {
                waiting++;
                order.signal();
                while (energy == 0) {
                    available.awaitUninterruptibly();
                }
                waiting--;
                energy--;
            } finally {
                lock.unlock();
            }
        }

        private void leave() {
            lock.lock();
            try {
                customers--;
                if (customers == 0) {
                    order.signal();
                    closed.signal();
                }
            } finally {
                lock.unlock();
            }
        }

        private void serveMeter() {
            lock.lock();
            try {
                while (customers > 0) {
                    closed.awaitUninterruptibly();
                }
                meter.send(made);
            } finally {
                lock.unlock();
            }
        }
    }

    private record Consumed(long electricity, long water) {}

    private static final class House {
        final SignalChannel construct = new SignalChannel();
        final SignalChannel destruct = new SignalChannel();
        final Channel<Consumed> consumed = new Channel<>();
        private final Supply electricity;
        private final Supply water;

        House(Supply electricity, Supply water, int times) {
            this.electricity = electricity;
            this.water = water;
            Thread.startVirtualThread(() -> live(times));
        }

        private void live(int times) {
            long energyUsed = 0;
            long waterUsed = 0;
            construct.take();
            for (int i = 0; i < times; i++) {
                electricity.request.send();
                water.request.send();
                electricity.answer.take();
                energyUsed++;
                water.answer.take();
                waterUsed++;
            }
            destruct.take();
            consumed.send(new Consumed(energyUsed, waterUsed));
            electricity.request.close();
            water.request.close();
        }
    }

    @Override
    public Outcome run() {
        var plant = new PowerPlant(size);
        var houses = new House[size];
        for (int i = 0; i < size; i++) {
            houses[i] = new House(plant.electricity(), water(), times);
        }
        for (House house : houses) {
            house.construct.send();
        }
        for (House house : houses) {
            house.destruct.send();
        }
        long electricity = 0;
        long water = 0;
        for (House house : houses) {
            Consumed consumed = house.consumed.take();
            electricity += consumed.electricity;
            water += consumed.water;
        }
        long made = plant.meter.take();
        return outcome(2 * (electricity + water + made) + 3L * size + 1, electricity, water, made);
    }

    @Override
    public Outcome best() throws InterruptedException {
        var city = new BestCity(size, times);
        return outcome(0, city.electricity(), city.water(), city.made());
    }

    private Outcome outcome(long messages, long electricity, long water, long made) {
        long want = (long) size * times;
        WrongResult.unless("electricity", electricity, want);
        WrongResult.unless("water", water, want);
        WrongResult.unless("units made", made, want);
        return new Outcome(messages, Map.of("electricity", electricity, "water", water, "made", made));
    }
}
