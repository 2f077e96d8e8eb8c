/* Keeps the core awake on which it is started: runs for ever, but only while
 * nothing else wants to (SCHED_IDLE).
 *
 * A core without work sleeps, and waking it costs more than to go on. In a
 * virtual machine, where it takes a detour through the hypervisor, a create that
 * waited for the disk cost half as much again because of it. That is the
 * machine's cost and not the server's. */

#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

int main(void) {
    const struct sched_param none = {0};
    /* Ends with its parent process. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || sched_setscheduler(0, SCHED_IDLE, &none)) {
        perror("idle");
        return 1;
    }
    /* /proc/stat counts this separately from normal processes. */
    if (nice(19) == -1) {
        perror("idle");
        return 1;
    }
    for (;;) {
        __asm__ volatile("" ::: "memory");
    }
}
