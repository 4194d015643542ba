/** A slot for messages that say nothing but that they are there. */
final class SignalChannel extends Slot {
    // Whether it is a message, else the end.
    private boolean even;
    private boolean odd;

    void send() {
        put(true);
        awaitRoom();
    }

    /** After this nothing is sent. */
    void close() {
        put(false);
    }

    /** False if the channel was closed. */
    boolean take() {
        awaitMessage();
        boolean isMessage = takesOdd() ? odd : even;
        received();
        return isMessage;
    }

    private void put(boolean isMessage) {
        if (putsOdd()) {
            odd = isMessage;
        } else {
            even = isMessage;
        }
        sent();
    }
}
