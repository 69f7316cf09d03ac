// Loaded in front of Redis, this writes down how much of a file is on the disk:
// after each fsync or fdatasync that succeeded, one line "inode size" with the
// size the file had before it. Whatever came later is what a power cut takes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int synced(int fd, const char *name) {
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
	struct stat before;
	int known = fstat(fd, &before) == 0 && S_ISREG(before.st_mode);
	int result = real(fd);
	static int out = -1;
	if (out < 0) out = open(getenv("FAULTRIG_SYNCS"), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	if (result == 0 && known && out >= 0) {
		char line[64];
		int n = snprintf(line, sizeof line, "%llu %lld\n", (unsigned long long)before.st_ino, (long long)before.st_size);
		if (write(out, line, n) != n) abort(); // a lost line would look like lost mail
	}
	return result;
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

// A power cut spares no child that writes the log anew.
static void die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

__attribute__((constructor)) static void loaded(void) { pthread_atfork(NULL, NULL, die_with_parent); }
