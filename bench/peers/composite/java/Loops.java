import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** java -Dlibrary=LIBRARY Loops copy|instructions N: as ../src/main.rs says. The calls are those of C, in LIBRARY, the
 * quickest way there is. */
public final class Loops {
    private static final SymbolLookup LIBRARY =
            SymbolLookup.libraryLookup(System.getProperty("library"), Arena.global());
    private static final MethodHandle READ = call("null_read");
    private static final MethodHandle WRITE = call("null_write");
    private static final MemorySegment BUFFER = Arena.global().allocate(512);

    private static MethodHandle call(String name) {
        var type = FunctionDescriptor.of(
                ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG);
        return Linker.nativeLinker()
                .downcallHandle(LIBRARY.find(name).orElseThrow(), type, Linker.Option.critical(false));
    }

    private static long copy(long left) throws Throwable {
        long sum = 0;
        do {
            sum += (long) WRITE.invokeExact(4L, BUFFER, (long) READ.invokeExact(3L, BUFFER, 512L));
        } while (--left != 0);
        return sum;
    }

    private static long instructions(long left) {
        long sum = 1;
        do {
            sum = sum * 31 + left;
        } while (--left != 0);
        return sum;
    }

    private static long run(String work, long n) throws Throwable {
        return work.equals("copy") ? copy(n) : instructions(n);
    }

    public static void main(String[] arguments) throws Throwable {
        String work = arguments[0];
        long n = Long.parseLong(arguments[1]);
        // Until the compiler has done its best.
        for (int time = 0; time < 20; time++) {
            run(work, n / 10 + 1);
        }
        long begin = System.nanoTime();
        long result = run(work, n);
        double ns = (System.nanoTime() - begin) / (double) n;
        System.out.println("{\"ns\": " + ns + ", \"result\": " + Long.toUnsignedString(result) + "}");
    }
}
