/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/link/launch_key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/wire/hex.h"
#include "io/os/host.h"
#include "io/os/watch.h"

#define DIGITS (2 * VV_KEY_BYTES)

static int bad_key(const char *place, struct vv_error *error) {
  vv_error_set(error, "bad-key", "%.100s holds no launch key", place);
  return vv_error_remedy(error, "the first line must be %d hexadecimal digits", DIGITS);
}

/* Byte by byte, so that nothing behind the line is taken from a pipe that others may read. */
static int read_key(int fd, const char *place, uint8_t key[VV_KEY_BYTES], struct vv_error *error) {
  char line[DIGITS + 2];
  size_t used = 0;
  while (used < sizeof line) {
    ssize_t got = read(fd, line + used, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || line[used] == '\n') break;
    used++;
  }
  if (used == DIGITS + 1 && line[DIGITS] == '\r') used--;
  if (used != DIGITS || vv_hex_read(line, key, VV_KEY_BYTES) != 0) return bad_key(place, error);
  return 0;
}

static int read_key_file(const char *path, uint8_t key[VV_KEY_BYTES], struct vv_error *error) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return vv_error_errno(error, "no-key", "cannot read %.100s", path);
  int result = read_key(fd, path, key, error);
  close(fd);
  return result;
}

int vv_launch_key_find(const struct vv_probe_config *config, uint8_t key[VV_KEY_BYTES], struct vv_error *error) {
  if (config->key) {
    memcpy(key, config->key, VV_KEY_BYTES);
    return 0;
  }
  if (config->key_file) return read_key_file(config->key_file, key, error);
  if (config->key_stdin) {
    if (read_key(STDIN_FILENO, "standard input", key, error) != 0) return -1;
    vv_watch_launcher();
    return 0;
  }
  bool no_other_end = config->stack->alone || vv_address_port(&config->address) == 0;
  if (config->command == VV_COMMAND_FAR || no_other_end) return vv_host_random(key, VV_KEY_BYTES, error);
  vv_error_set(error, "no-key", "the launch key is missing");
  return vv_error_remedy(error, "give --key-stdin or --key-file; the far end's \"ready\" shows the key that it made");
}
