import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** The command line's options, as -name value, -name=value or just -name. */
final class Flags {
    private final Map<String, String> values = new HashMap<>();
    private final Set<String> known = new HashSet<>();

    /** The first argument is the program's name. */
    Flags(String[] arguments) {
        for (int i = 1; i < arguments.length; i++) {
            if (!arguments[i].startsWith("-")) {
                refuse("what is " + arguments[i] + "?");
            }
            String[] parts = arguments[i].replaceFirst("^--?", "").split("=", 2);
            if (parts.length == 2) {
                values.put(parts[0], parts[1]);
            } else if (i + 1 < arguments.length && !arguments[i + 1].startsWith("-")) {
                values.put(parts[0], arguments[++i]);
            } else {
                values.put(parts[0], "true");
            }
        }
    }

    int cores() {
        return Math.max(1, number("cores", 1));
    }

    int number(String name, int otherwise) {
        String value = text(name, null);
        if (value == null) {
            return otherwise;
        }
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException problem) {
            throw refuse("-" + name + " needs a number, not " + value);
        }
    }

    String text(String name, String otherwise) {
        known.add(name);
        return values.getOrDefault(name, otherwise);
    }

    boolean isSet(String name) {
        return text(name, "false").equals("true");
    }

    /** To be called when all that there are have been asked for. */
    void refuseOthers() {
        for (String name : values.keySet()) {
            if (!known.contains(name)) {
                refuse("there is no -" + name);
            }
        }
    }

    private static RuntimeException refuse(String why) {
        System.err.println(why);
        System.exit(2);
        throw new AssertionError("unreachable");
    }
}
