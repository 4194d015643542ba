import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Java peers of Drystone's programs, with the same structure: a virtual thread for each component's activity and for
 * each service, a channel (Slot) for each direction of a communication, locks and conditions for monitors.
 *
 * <pre>java -cp OUT Main PROGRAM [-cores N] [-runs N] [-warm N] [-best] [sizes]</pre>
 *
 * Every measured run (after one to warm up, or as many as -warm says) prints a line of JSON: the results, the number of
 * messages and the time of the work itself. A wrong result ends the command with status 1. Where a Drystone protocol
 * ends with a message of its own, these programs close the channel, and count that as the message it stands for. With
 * -best the result is got in the quickest way instead (Best*.java).
 */
public final class Main {
    private static final Map<String, Function<Flags, Program>> PROGRAMS = Map.of(
            "ProducerConsumer", ProducerConsumer::new,
            "Eratosthenes", Eratosthenes::new,
            "TokenRing", TokenRing::new,
            "City", City::new,
            "News", News::new,
            "Library", Library::new,
            "Mandelbrot", Mandelbrot::new,
            "TrafficSimulation", TrafficSimulation::new,
            "creation", Creation::new);

    /** What measures something else than the time of a run. */
    private static final Map<String, Command> COMMANDS = Map.of(
            "bytes", BytesPerProcess::measure);

    /** If there are runs to warm up, the last of them is repeated for so long, because short runs do not get
     * compiled. */
    private static final long WARM_NANOSECONDS = 1_000_000L * Long.getLong("warm.ms", 0);

    interface Command {
        void run(Flags flags) throws Exception;
    }

    private Main() {}

    public static void main(String[] arguments) {
        if (arguments.length == 0) {
            usage();
        }
        String name = arguments[0];
        Command command = COMMANDS.get(name);
        if (command == null && PROGRAMS.containsKey(name)) {
            command = flags -> measure(name, flags);
        }
        if (command == null) {
            usage();
        }
        Flags flags = new Flags(arguments);
        prepareScheduler(flags.cores());
        // Else a thread that dies would leave those waiting for ever that it talks with.
        Thread.setDefaultUncaughtExceptionHandler((thread, problem) -> fail(name, problem));
        run(name, command, flags);
    }

    /** Must come before the first virtual thread, when the scheduler reads its settings. */
    private static void prepareScheduler(int cores) {
        String parallelism = Integer.toString(cores);
        System.setProperty("jdk.virtualThreadScheduler.parallelism", parallelism);
        System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", parallelism);
        // Else each thread is entered into a set and taken out of it again, for the sake of thread dumps.
        System.setProperty("jdk.trackAllThreads", "false");
    }

    /** The main program is a virtual thread too: to talk with a platform thread takes calls of the operating system. */
    private static void run(String name, Command command, Flags flags) {
        Thread main = Thread.startVirtualThread(() -> {
            try {
                command.run(flags);
            } catch (Exception problem) {
                fail(name, problem);
            }
        });
        try {
            main.join();
        } catch (InterruptedException problem) {
            fail(name, problem);
        }
    }

    private static void measure(String name, Flags flags) throws Exception {
        int runs = flags.number("runs", 1);
        int warm = flags.number("warm", 1);
        boolean best = flags.isSet("best");
        Program program = PROGRAMS.get(name).apply(flags);
        flags.refuseOthers();
        long begin = System.nanoTime();
        for (int run = 1 - warm; run <= runs; ) {
            System.gc(); // what the previous run left is not this run's work
            long start = System.nanoTime();
            Outcome outcome = best ? program.best() : program.run();
            long end = System.nanoTime();
            if (run > 0) {
                Json.print(Map.of(
                        "program", name, "cores", flags.cores(), "run", run, "ms", (end - start) / 1e6,
                        "messages", outcome.messages(), "result", outcome.result()));
            }
            if (run != 0 || end - begin >= WARM_NANOSECONDS) {
                run++;
            }
        }
    }

    private static void fail(String name, Throwable problem) {
        if (problem instanceof WrongResult) {
            System.err.println(name + ": " + problem.getMessage());
        } else {
            problem.printStackTrace();
        }
        Runtime.getRuntime().halt(1);
    }

    private static void usage() {
        var names = new TreeSet<>(PROGRAMS.keySet());
        names.addAll(COMMANDS.keySet());
        System.err.println(
                "usage: Main PROGRAM [-cores N] [-runs N] [-warm N] [-best] [sizes]; programs: "
                        + String.join(" ", names));
        System.exit(2);
    }
}
