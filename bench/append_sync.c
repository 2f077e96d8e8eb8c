/* The machine's own rate of durable writes: appends 4 KiB to FILE and waits
 * for the disk, over and over, for SECONDS. Prints how often, and in how many
 * seconds. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: %s FILE SECONDS\n", arguments[0]);
        return 2;
    }
    int file = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    if (file < 0) {
        perror(arguments[1]);
        return 1;
    }
    char block[4096];
    memset(block, 'x', sizeof block);

    double seconds = atof(arguments[2]), start = now(), elapsed;
    long writes = 0;
    do {
        if (write(file, block, sizeof block) != sizeof block || fdatasync(file) != 0) {
            perror(arguments[1]);
            return 1;
        }
        writes++;
        elapsed = now() - start;
    } while (elapsed < seconds);
    printf("%ld %f\n", writes, elapsed);
    return 0;
}
