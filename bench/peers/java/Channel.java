/** A slot with an object in each message, which from then on is the receiver's. */
final class Channel<T> extends Slot {
    private T even;
    private T odd;

    void send(T item) {
        put(item);
        awaitRoom();
    }

    /** After this nothing is sent. */
    void close() {
        put(null);
    }

    /** Null if the channel was closed. */
    T take() {
        awaitMessage();
        T item;
        // Taken out, because the channel would keep it alive.
        if (takesOdd()) {
            item = odd;
            odd = null;
        } else {
            item = even;
            even = null;
        }
        received();
        return item;
    }

    private void put(T item) {
        if (putsOdd()) {
            odd = item;
        } else {
            even = item;
        }
        sent();
    }
}
