/* Makes every wait for the disk return at once. Loaded into the server
 * (LD_PRELOAD), it does what SQLite's synchronous=OFF would: the server has no
 * such option, and must not have one. */

int fsync(int file) {
    (void)file;
    return 0;
}

int fdatasync(int file) {
    (void)file;
    return 0;
}
