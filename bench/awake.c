/* Keeps the load awake. Loaded into wrk or pgbench (LD_PRELOAD), it asks again
 * and again for events where they would sleep until there are some.
 *
 * A server that responds to a client that sleeps on another core must wake that
 * core. In a virtual machine, this goes through the hypervisor, and costs more
 * than the rest of the response. The slower a server, the more often the load
 * sleeps. A client on another machine has no such cost. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

typedef int wait_function(int, struct epoll_event *, int, int);

static long milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int epoll_wait(int queue, struct epoll_event *events, int most, int timeout) {
    static wait_function *look;
    if (!look) {
        look = (wait_function *)dlsym(RTLD_NEXT, "epoll_wait");
    }
    long end = milliseconds() + timeout;
    int found;
    do {
        found = look(queue, events, most, 0);
    } while (found == 0 && (timeout < 0 || milliseconds() < end));
    return found;
}

typedef int poll_function(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

/* Only to be interrupted by an event: pgbench needs no more exact a timeout. */
int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
    static poll_function *look;
    if (!look) {
        look = (poll_function *)dlsym(RTLD_NEXT, "ppoll");
    }
    const struct timespec at_once = {0, 0};
    long end = timeout ? milliseconds() + timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000 : 0;
    int found;
    do {
        found = look(files, count, &at_once, mask);
    } while (found == 0 && (!timeout || milliseconds() < end));
    return found;
}
