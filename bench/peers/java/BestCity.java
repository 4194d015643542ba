import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/** A thread for each house, which calls the plant and the river; the plant makes a unit when it is called. */
final class BestCity {
    private final ReentrantLock river = new ReentrantLock();
    private final ReentrantLock plant = new ReentrantLock();
    private long flowed;
    private long made;
    private long electricity;
    private long water;

    BestCity(int size, int times) throws InterruptedException {
        var electricityOf = new int[size];
        var waterOf = new int[size];
        var living = new CountDownLatch(size);
        for (int i = 0; i < size; i++) {
            int house = i;
            Thread.startVirtualThread(() -> {
                for (int k = 0; k < times; k++) {
                    useElectricity();
                    electricityOf[house]++;
                    useWater();
                    waterOf[house]++;
                }
                living.countDown();
            });
        }
        living.await();
        for (int i = 0; i < size; i++) {
            electricity += electricityOf[i];
            water += waterOf[i];
        }
        WrongResult.unless("water that flowed", flowed, 2L * size * times);
    }

    long electricity() {
        return electricity;
    }

    long water() {
        return water;
    }

    long made() {
        return made;
    }

    private void useElectricity() {
        plant.lock();
        try {
            useWater();
            made++;
        } finally {
            plant.unlock();
        }
    }

    private void useWater() {
        river.lock();
        try {
            flowed++;
        } finally {
            river.unlock();
        }
    }
}
