/* Preloaded into a process: counts its calls of the operating system on paths below a folder, and makes one fail.

   A call is of one kind: open, create (open what may not be there yet), mkdir, read, write, fsync or rename. The counts are shared with all forked processes. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN, CREATE, MKDIR, READ, WRITE, FSYNC, RENAME, KINDS };

static struct {
    int armed;            /* bits of the kinds that may fail */
    int error;            /* the errno of the failing call; 0: the process is killed */
    int lasting;          /* whether all later calls of these kinds fail too */
    long nth;             /* number of the first failing call; 0: none */
    long calls[KINDS];    /* calls so far */
    long armed_calls;     /* calls so far of the kinds that may fail */
    long failed;          /* calls that failed, or 1 if the process was killed */
    char folder[PATH_MAX];
} *shared;

__attribute__((constructor)) static void share(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void faults_arm(const char *folder, int kinds, long nth, int error, int lasting) {
    memset(shared, 0, sizeof *shared);
    strncpy(shared->folder, folder, PATH_MAX - 1);
    shared->error = error;
    shared->lasting = lasting;
    shared->nth = nth;
    shared->armed = kinds;
}

long faults_calls(int kind) { return shared->calls[kind]; }
long faults_failed(void) { return shared->failed; }

static int below(const char *path) {
    size_t length = strlen(shared->folder);
    return length && !strncmp(path, shared->folder, length);
}

/* Whether this call, of a kind, on a path that may be relative to a folder's descriptor, has to fail. */
static int fails(int kind, int folder, const char *path) {
    char whole[PATH_MAX], link[64];
    if (!shared || !shared->folder[0]) return 0;
    if (path == NULL || (path[0] != '/' && folder != AT_FDCWD)) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, whole, sizeof whole - 1);
        if (length < 0) return 0;
        whole[length] = 0;
        path = whole;
    } else if (path[0] != '/') {
        if (getcwd(whole, sizeof whole) == NULL) return 0;
        path = whole;
    }
    if (!below(path)) return 0;
    __atomic_add_fetch(&shared->calls[kind], 1, __ATOMIC_SEQ_CST);
    if (!(shared->armed >> kind & 1)) return 0;
    long number = __atomic_add_fetch(&shared->armed_calls, 1, __ATOMIC_SEQ_CST);
    if (!shared->nth || number < shared->nth || (number > shared->nth && !shared->lasting)) return 0;
    __atomic_add_fetch(&shared->failed, 1, __ATOMIC_SEQ_CST);
    if (!shared->error) kill(getpid(), SIGKILL);
    errno = shared->error;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define MODE_AND_KIND                \
    mode_t mode = 0;                 \
    int kind = OPEN;                 \
    if (flags & O_CREAT) {           \
        va_list more;                \
        va_start(more, flags);       \
        mode = va_arg(more, mode_t); \
        va_end(more);                \
        kind = CREATE;               \
    }

int open(const char *path, int flags, ...) {
    MODE_AND_KIND return fails(kind, AT_FDCWD, path) ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE_AND_KIND return fails(kind, AT_FDCWD, path) ? -1 : REAL(open64)(path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
    MODE_AND_KIND return fails(kind, folder, path) ? -1 : REAL(openat)(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
    MODE_AND_KIND return fails(kind, folder, path) ? -1 : REAL(openat64)(folder, path, flags, mode);
}

#define CALL(result, failure, name, kind, folder, path, parameters, arguments) \
    result name parameters { return fails(kind, folder, path) ? failure : REAL(name) arguments; }

CALL(FILE *, NULL, fopen, mode[0] == 'r' ? OPEN : CREATE, AT_FDCWD, path, (const char *path, const char *mode), (path, mode))
CALL(FILE *, NULL, fopen64, mode[0] == 'r' ? OPEN : CREATE, AT_FDCWD, path, (const char *path, const char *mode), (path, mode))
CALL(int, -1, mkdir, MKDIR, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))
CALL(int, -1, mkdirat, MKDIR, folder, path, (int folder, const char *path, mode_t mode), (folder, path, mode))
CALL(int, -1, rename, RENAME, AT_FDCWD, to, (const char *from, const char *to), (from, to))
CALL(int, -1, renameat, RENAME, there, to, (int here, const char *from, int there, const char *to),
     (here, from, there, to))
CALL(int, -1, fsync, FSYNC, file, NULL, (int file), (file))
CALL(int, -1, fdatasync, FSYNC, file, NULL, (int file), (file))
CALL(ssize_t, -1, read, READ, file, NULL, (int file, void *to, size_t size), (file, to, size))
CALL(ssize_t, -1, pread, READ, file, NULL, (int file, void *to, size_t size, off_t at), (file, to, size, at))
CALL(ssize_t, -1, pread64, READ, file, NULL, (int file, void *to, size_t size, off64_t at), (file, to, size, at))
CALL(ssize_t, -1, readv, READ, file, NULL, (int file, const struct iovec *parts, int count), (file, parts, count))
CALL(ssize_t, -1, write, WRITE, file, NULL, (int file, const void *from, size_t size), (file, from, size))
CALL(ssize_t, -1, pwrite, WRITE, file, NULL, (int file, const void *from, size_t size, off_t at),
     (file, from, size, at))
CALL(ssize_t, -1, pwrite64, WRITE, file, NULL, (int file, const void *from, size_t size, off64_t at),
     (file, from, size, at))
CALL(ssize_t, -1, writev, WRITE, file, NULL, (int file, const struct iovec *parts, int count), (file, parts, count))
CALL(ssize_t, -1, copy_file_range, WRITE, file, NULL,
     (int from, off64_t *here, int file, off64_t *there, size_t size, unsigned flags),
     (from, here, file, there, size, flags))
CALL(ssize_t, -1, sendfile, WRITE, file, NULL, (int file, int from, off_t *at, size_t size), (file, from, at, size))
