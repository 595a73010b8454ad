/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack uftp: a message as a file, from uftp to the uftpd of each far host.
 *
 * uftp starts a session for each message: it announces itself, the receivers
 * register, it tells them of the file, and then it says "Sending file", with the
 * time of day. Then the time of a message begins. It ends when the last uftpd has
 * given the file its name, which it does when it has closed it, and we have read
 * it. The files lie in memory where there is a file system for that.
 *
 * Four options are not as they come: as fast as the interface takes it (-R -1,
 * not 1 Mb/s), datagrams that fill their frames (-b), only the hosts of the launch
 * (-H), so that it need not wait for others, and an announcement that nobody heard
 * is soon said again (-r).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/time.h"
#include "stack/program.h"

#define PACKAGE       "uftp"
#define PORTS         1
#define NAME          "message"
#define HEADERS       52 /* IPv4 20, UDP 8, its own 24 */
#define PATH_BYTES    64
#define NOTICES_BYTES 4096

struct vv_end {
  struct vv_stack_config config;
  struct vv_program_place place;
  struct vv_program program;
  char directory[PATH_BYTES / 2]; /* of the message; "": none was made */
  char file[PATH_BYTES];
  char block[12];           /* near: message bytes in a datagram */
  int notices;              /* far: of files that get their names in the directory; -1: none */
  vv_ns began_ns, setup_ns; /* near: of the message that was sent last */
};

/* open ----------------------------------------------------------------- */

static int make_directory(struct vv_end *end, struct vv_error *error) {
  static const char *const places[] = {"/dev/shm", "/tmp"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    snprintf(end->directory, sizeof end->directory, "%s/vaiven-XXXXXX", places[i]);
    if (mkdtemp(end->directory)) break;
    end->directory[0] = '\0';
  }
  if (!end->directory[0]) return vv_error_errno(error, "no-room", "uftp: cannot make a directory for messages");
  snprintf(end->file, sizeof end->file, "%s/%s", end->directory, NAME);
  return 0;
}

/* With what a transfer that was broken off has left in it. */
static void remove_directory(const struct vv_end *end) {
  DIR *files = end->directory[0] ? opendir(end->directory) : NULL;
  if (!files) return;
  for (const struct dirent *file; (file = readdir(files));) unlinkat(dirfd(files), file->d_name, 0);
  closedir(files);
  rmdir(end->directory);
}

static void uftp_close(struct vv_end *end) {
  if (!end) return;
  if (!end->config.far) vv_program_part();
  vv_child_stop(&end->program.child);
  if (end->notices >= 0) close(end->notices);
  remove_directory(end);
  free(end);
}

static int open_sender(struct vv_end *end, struct vv_error *error) {
  struct vv_iface iface;
  if (vv_iface_read(end->place.iface, &iface, error) != 0) return -1;
  snprintf(end->block, sizeof end->block, "%zu", iface.mtu_bytes - HEADERS);
  return 0;
}

/* It runs for the whole launch. A file has its name when it is whole (-t). */
static int open_receiver(struct vv_end *end, struct vv_error *error) {
  char *const argv[] = {"uftpd",         "-d", "-q",           "-t", "-x", "0", "-I", end->place.iface, "-p",
                        end->place.port, "-D", end->directory, NULL};
  end->notices = inotify_init1(IN_CLOEXEC);
  if (end->notices < 0 || inotify_add_watch(end->notices, end->directory, IN_MOVED_TO) < 0) {
    return vv_error_errno(error, "no-notices", "uftp: cannot watch the directory of messages");
  }
  return vv_child_start(&end->program.child, argv, 0, error);
}

static struct vv_end *uftp_open(const struct vv_stack_config *config, char contact[VV_STACK_CONTACT_MAX],
                                struct vv_error *error) {
  struct vv_end *end = calloc(1, sizeof *end);
  if (!end) {
    vv_error_set(error, "no-memory", "no memory for an end");
    return NULL;
  }
  end->config = *config;
  end->notices = -1;
  end->program.id = "uftp";
  vv_child_init(&end->program.child);
  int result = vv_program_place(config, config->far ? "uftpd" : "uftp", PACKAGE, PORTS, &end->place, error);
  if (result == 0) result = make_directory(end, error);
  if (result == 0) result = config->far ? open_receiver(end, error) : open_sender(end, error);
  if (result != 0) return uftp_close(end), NULL;
  snprintf(contact, VV_STACK_CONTACT_MAX, "%s", config->address);
  return end;
}

/* near ----------------------------------------------------------------- */

static int write_file(const struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  FILE *file = fopen(end->file, "we");
  if (!file) return vv_error_errno(error, "no-room", "uftp: cannot write %s", end->file);
  bool whole = fwrite(message, 1, size_bytes, file) == size_bytes;
  whole = fclose(file) == 0 && whole;
  return whole ? 0 : vv_error_errno(error, "no-room", "uftp: cannot write %s", end->file);
}

static int start_sender(struct vv_end *end, struct vv_error *error) {
  char all[VV_PROGRAM_ALL_MAX];
  snprintf(all, sizeof all, "%s", vv_program_all());
  char *const argv[] = {
      "uftp", "-q",  "-T", "-x",       "2",  "-I", end->place.iface, "-p", end->place.port, "-R", "-1",
      "-r",   "0.1", "-b", end->block, "-H", all,  end->file,        NULL};
  return vv_child_start(&end->program.child, argv, VV_CHILD_ERR, error);
}

/* "2026/11/21 22:57:46.051799: [4586927C/00:0001]: Sending file", in UTC: the time in ns, or -1. */
static int64_t time_of_line(const char *line) {
  struct tm day = {0};
  int us;
  if (sscanf(line, "%4d/%2d/%2d %2d:%2d:%2d.%6d:", &day.tm_year, &day.tm_mon, &day.tm_mday, &day.tm_hour, &day.tm_min,
             &day.tm_sec, &us) != 7) {
    return -1;
  }
  day.tm_year -= 1900;
  day.tm_mon -= 1;
  return timegm(&day) * VV_SEC + us * VV_US;
}

/* Until it sends the message; what it says after that is heard before the next one. */
static enum vv_got run_sender(struct vv_end *end, struct vv_error *error) {
  char line[VV_CHILD_LINE_MAX];
  vv_ns start_ns = vv_clock_real_ns();
  if (start_sender(end, error) != 0) return VV_GOT_ERROR;
  enum vv_got got = vv_program_until(&end->program, "Sending file", &end->config.stop, line, error);
  if (got != VV_GOT_MESSAGE) return got;
  end->began_ns = time_of_line(line);
  end->setup_ns = end->began_ns - start_ns;
  if (end->began_ns >= 0) return VV_GOT_MESSAGE;
  vv_error_set(error, "program-failed", "uftp: \"%.80s\" tells no time", line);
  return VV_GOT_ERROR;
}

static enum vv_got uftp_send(struct vv_end *end, const uint8_t *message, size_t size_bytes, struct vv_error *error) {
  enum vv_got got = vv_program_end(&end->program, &end->config.stop, error); /* of the message before */
  if (got != VV_GOT_MESSAGE) return got;
  if (write_file(end, message, size_bytes, error) != 0) return VV_GOT_ERROR;
  got = run_sender(end, error);
  if (got != VV_GOT_MESSAGE) vv_child_stop(&end->program.child); /* half a session is none */
  return got;
}

static int64_t uftp_began(const struct vv_end *end, vv_ns *setup_ns) {
  *setup_ns = end->setup_ns;
  return end->began_ns;
}

/* far ------------------------------------------------------------------ */

/* Waits until a file has got its name: there is one a message. */
static enum vv_got wait_for_file(struct vv_end *end, struct vv_error *error) {
  char notices[NOTICES_BYTES];
  while (read(end->notices, notices, sizeof notices) < 0) {
    enum vv_got got = vv_stack_judge(&end->config.stop, "uftp", "wait for a file", error);
    if (got != VV_GOT_MESSAGE) return got;
  }
  return VV_GOT_MESSAGE;
}

static enum vv_got uftp_recv(struct vv_end *end, uint8_t *message, size_t size_bytes, struct vv_error *error) {
  enum vv_got got = wait_for_file(end, error);
  if (got != VV_GOT_MESSAGE) return got;
  FILE *file = fopen(end->file, "re");
  bool whole = file && fread(message, 1, size_bytes, file) == size_bytes && fgetc(file) == EOF;
  if (file) fclose(file);
  unlink(end->file);
  if (whole) return VV_GOT_MESSAGE;
  vv_error_set(error, "bad-message", "uftp: a file came that is not of %zu bytes", size_bytes);
  return VV_GOT_ERROR;
}

static const char *uftp_way(const struct vv_end *end) {
  (void)end;
  return "uftp -R -1: a session set up before each message";
}

const struct vv_stack vv_stack_uftp = {
    .id = "uftp",
    .summary = "UFTP: uftp and uftpd, a session and a file for each message",
    .program = "uftp",
    .size_bytes_min = 1,
    .size_bytes_max = (size_t)64 << 20,
    .to_all = true,
    .joined = true,
    .path = VV_PATH_RAW, /* its own header is 8 bytes longer */
    .open = uftp_open,
    .accept = vv_program_accept,
    .connect = vv_program_connect,
    .send = uftp_send,
    .recv = uftp_recv,
    .way = uftp_way,
    .began = uftp_began,
    .close = uftp_close,
};
