import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Mirrors Mandelbrot.dry: the Mandelbrot set, one task for each tile of the plane. */
final class Mandelbrot implements Program {
    private static final int WIDTH = 8; // points of a task
    private static final int HEIGHT = 4;
    private static final double LEFT = -2.0;
    private static final double BOTTOM = -1.0;
    private static final double STEP = 0.05;
    private static final double LIMIT = 2.0;

    private final int columns;
    private final int rows;
    private final int iterations;

    Mandelbrot(Flags flags) {
        columns = flags.number("columns", 10);
        rows = flags.number("rows", 10);
        iterations = flags.number("k", 5000);
    }

    private record Tile(int column, int row) {}

    /** Computes the tile it is told and streams its values back. */
    private static final class Task {
        final Channel<Tile> compute = new Channel<>();
        final Channel<Double> values = new Channel<>();

        Task(int iterations) {
            Thread.startVirtualThread(() -> serve(iterations));
        }

        private void serve(int iterations) {
            double[][] value = compute(compute.take(), iterations);
            for (int y = 0; y < HEIGHT; y++) {
                for (int x = 0; x < WIDTH; x++) {
                    values.send(value[x][y]);
                }
            }
            values.close();
        }

        private static double[][] compute(Tile tile, int iterations) {
            var left = new double[WIDTH];
            var bottom = new double[HEIGHT];
            for (int x = 0; x < WIDTH; x++) {
                left[x] = LEFT + STEP * (tile.column * WIDTH + x);
            }
            for (int y = 0; y < HEIGHT; y++) {
                bottom[y] = BOTTOM + STEP * (tile.row * HEIGHT + y);
            }
            var re = new double[WIDTH][HEIGHT];
            var im = new double[WIDTH][HEIGHT];
            var value = new double[WIDTH][HEIGHT];
            for (int k = 0; k < iterations; k++) {
                for (int x = 0; x < WIDTH; x++) {
                    iterate(re[x], im[x], value[x], left[x], bottom);
                }
            }
            return value;
        }

        private static void iterate(double[] re, double[] im, double[] value, double left, double[] bottom) {
            for (int y = 0; y < HEIGHT; y++) {
                if (value[y] <= LIMIT) {
                    double a = re[y];
                    double b = im[y];
                    double r = a * a - b * b + left;
                    double i = 2.0 * a * b + bottom[y];
                    re[y] = r;
                    im[y] = i;
                    value[y] = Math.sqrt(r * r + i * i);
                }
            }
        }
    }

    @Override
    public Outcome run() {
        List<Task> tasks = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                var task = new Task(iterations);
                task.compute.send(new Tile(column, row));
                tasks.add(task);
            }
        }
        var inside = new boolean[columns * WIDTH][rows * HEIGHT];
        long count = 0;
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                Channel<Double> values = tasks.get(row * columns + column).values;
                for (int y = row * HEIGHT; y < (row + 1) * HEIGHT; y++) {
                    for (int x = column * WIDTH; x < (column + 1) * WIDTH; x++) {
                        inside[x][y] = values.take() <= LIMIT;
                        count += inside[x][y] ? 1 : 0;
                    }
                }
                values.take(); // the end
            }
        }
        if (columns == 10 && rows == 10 && iterations == 5000) {
            WrongResult.unless("points inside", count, 609);
        }
        return new Outcome((long) tasks.size() * (WIDTH * HEIGHT + 2), Map.of("inside", count));
    }
}
