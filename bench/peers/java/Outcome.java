import java.util.Map;

/** What one run of a program gives. */
record Outcome(long messages, Map<String, Object> result) {}
