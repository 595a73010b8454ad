/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/siphash.h"
#include "core/wire/hex.h"
#include "io/job/handle.h"
#include "vaiven/group.h"

#define KEY_DIGITS (2 * VV_KEY_BYTES)

static const char *variable(const char *name, struct vv_error *error) {
  const char *value = getenv(name);
  if (value && value[0]) return value;
  vv_error_set(error, "no-place", "%s is not in the environment", name);
  vv_error_remedy(error, "start the program by vaiven run --stack group, or fill in the config");
  return NULL;
}

static int number(const char *name, unsigned long least, unsigned long most, uint32_t *number, struct vv_error *error) {
  const char *text = variable(name, error);
  char *end;
  if (!text) return -1;
  errno = 0;
  const unsigned long read = strtoul(text, &end, 10);
  if (errno != 0 || *end || text[0] < '0' || text[0] > '9' || read < least || read > most) {
    return vv_error_set(error, "bad-config", "%s is %.20s, and no number from %lu to %lu", name, text, least, most);
  }
  *number = (uint32_t)read;
  return 0;
}

/* The key would prove nothing if others could read it. */
static int read_key(const char *path, uint8_t key[VV_KEY_BYTES], struct vv_error *error) {
  char digits[KEY_DIGITS];
  struct stat status;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return vv_error_set(error, "no-key", "cannot read the key in %.200s: %s", path, strerror(errno));
  const bool private = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 077) == 0;
  const bool whole = private && read(fd, digits, KEY_DIGITS) == KEY_DIGITS;
  close(fd);
  if (!private) {
    vv_error_set(error, "bad-key", "%.200s can be read by others, or is no file", path);
    return vv_error_remedy(error, "chmod 600, and a new key");
  }
  if (!whole || vv_hex_read(digits, key, VV_KEY_BYTES) != 0) {
    return vv_error_set(error, "bad-key", "%.200s does not begin with %d hexadecimal digits", path, KEY_DIGITS);
  }
  return 0;
}

static int read_all(struct vv_group_config *config, struct vv_error *error) {
  const char *path;
  if (!config) return vv_error_set(error, "bad-call", "there is no config");
  if (number("VAIVEN_RANKS", 1, VV_GROUP_RANKS_MAX, &config->ranks, error) != 0 ||
      number("VAIVEN_RANK", 0, config->ranks - 1, &config->rank, error) != 0 ||
      !(config->address = variable("VAIVEN_ADDRESS", error)) ||
      !(config->meeting = variable("VAIVEN_MEETING", error)) || !(path = variable("VAIVEN_KEY_FILE", error))) {
    return -1;
  }
  return read_key(path, config->key, error);
}

int vv_group_from_environment(struct vv_group_config *config, struct vv_group_problem *problem) {
  struct vv_error error = {0};
  if (read_all(config, &error) == 0) return 0;
  vv_handle_problem(&error, VV_MEETING_NOBODY, problem);
  return -1;
}
