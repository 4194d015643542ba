/*
 * libtirpc as a client with one thread wants it: its locks do nothing. All contenders are built so; with real locks the
 * generic code is slower still.
 */
#include <pthread.h>
#define pthread_mutex_lock(mutex) ((void)(mutex), 0)
#define pthread_mutex_unlock(mutex) ((void)(mutex), 0)
