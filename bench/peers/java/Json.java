import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Enough of JSON for the results. */
final class Json {
    private Json() {}

    static void print(Map<String, Object> line) {
        System.out.println(text(line));
    }

    private static String text(Object value) {
        return switch (value) {
            case Map<?, ?> map -> new TreeMap<>(map).entrySet().stream()
                    .map(entry -> text(entry.getKey()) + ":" + text(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
            case List<?> list -> list.stream().map(Json::text).collect(Collectors.joining(",", "[", "]"));
            case String string -> '"' + string + '"'; // names and numbers: nothing to escape
            default -> value.toString();
        };
    }
}
