/* Keeps the load awake. Loaded into wrk (LD_PRELOAD), it asks again and again
 * for events where wrk would sleep until there are some.
 *
 * Whoever answers a client that sleeps on another core must wake that core,
 * and pays for it; in a virtual machine, where it takes a detour through the
 * hypervisor, more than for anything else in the answer. The slower a server,
 * the more often the load sleeps. A client on another machine costs neither
 * server anything of the kind. */

#define _GNU_SOURCE
#include <dlfcn.h>
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
