/** A slot with a number in each message, which is not worth an object. */
final class NumberChannel extends Slot {
    /** What take gives if the channel was closed; nobody sends it. */
    static final long NONE = Long.MIN_VALUE;

    private long even;
    private long odd;

    void send(long number) {
        put(number);
        awaitRoom();
    }

    /** After this nothing is sent. */
    void close() {
        put(NONE);
    }

    long take() {
        awaitMessage();
        long number = takesOdd() ? odd : even;
        received();
        return number;
    }

    private void put(long number) {
        if (putsOdd()) {
            odd = number;
        } else {
            even = number;
        }
        sent();
    }
}
