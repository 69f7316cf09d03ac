// Loaded in front of Redis, this moves its wall clock by the microseconds that
// stand in a shared file. What counts up since boot is left alone, as it is
// when somebody sets the clock of a machine.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *offset;

__attribute__((constructor)) static void shared(void) {
	int fd = open(getenv("FAULTRIG_CLOCK"), O_RDONLY | O_CLOEXEC);
	void *page = fd < 0 ? MAP_FAILED : mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) abort();
	close(fd);
	offset = page;
}

static long long moved(void) { return offset ? *offset : 0; }

int clock_gettime(clockid_t id, struct timespec *ts) {
	static int (*real)(clockid_t, struct timespec *);
	if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int result = real(id, ts);
	if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
		long long us = (long long)ts->tv_sec * 1000000 + ts->tv_nsec / 1000 + moved();
		ts->tv_sec = us / 1000000;
		ts->tv_nsec = us % 1000000 * 1000 + ts->tv_nsec % 1000;
	}
	return result;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
	(void)zone;
	struct timespec ts;
	int result = clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return result;
}

time_t time(time_t *out) {
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	if (out) *out = ts.tv_sec;
	return ts.tv_sec;
}
