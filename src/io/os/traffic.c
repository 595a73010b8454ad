/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/traffic.h"

#include <inttypes.h>
#include <linux/tcp.h> /* glibc's tcp_info ends before the bytes */
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define LINE_MAX_BYTES 1024

/* "  eth0: RX-BYTES RX-FRAMES 6 more TX-BYTES TX-FRAMES ..." (proc(5), /proc/net/dev). */
static bool read_line(const char *line, const char *name, struct vv_traffic *traffic) {
  struct vv_traffic found;
  const size_t length = strlen(name);
  line += strspn(line, " ");
  if (strncmp(line, name, length) != 0 || line[length] != ':') return false;
  const char *numbers = line + length + 1;
  if (sscanf(numbers, "%" SCNu64 "%" SCNu64 "%*u%*u%*u%*u%*u%*u%" SCNu64 "%" SCNu64, &found.rx_bytes, &found.rx_frames,
             &found.tx_bytes, &found.tx_frames) != 4) {
    return false;
  }
  *traffic = found;
  return true;
}

bool vv_traffic_of_interface(const char *name, struct vv_traffic *traffic) {
  char line[LINE_MAX_BYTES];
  FILE *file = fopen("/proc/net/dev", "re");
  if (!file) return false;
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) found = read_line(line, name, traffic);
  fclose(file);
  return found;
}

bool vv_traffic_of_connection(int fd, struct vv_traffic *traffic) {
  struct tcp_info info = {0};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  if (length < offsetof(struct tcp_info, tcpi_bytes_sent) + sizeof info.tcpi_bytes_sent)
    return false; /* Linux < 4.19 */
  *traffic = (struct vv_traffic){.tx_bytes = info.tcpi_bytes_sent,
                                 .tx_frames = info.tcpi_segs_out,
                                 .rx_bytes = info.tcpi_bytes_received,
                                 .rx_frames = info.tcpi_segs_in};
  return true;
}

/* The place of RetransSegs in the line of names is its place in the line of numbers (RFC 4022, tcpRetransSegs). */
static uint64_t number_named(char *names, char *numbers, const char *wanted) {
  char *name_rest, *number_rest;
  char *name = strtok_r(names, " \n", &name_rest), *number = strtok_r(numbers, " \n", &number_rest);
  while (name && number && strcmp(name, wanted) != 0) {
    name = strtok_r(NULL, " \n", &name_rest);
    number = strtok_r(NULL, " \n", &number_rest);
  }
  uint64_t value = 0;
  return name && number && sscanf(number, "%" SCNu64, &value) == 1 ? value : 0;
}

uint64_t vv_traffic_resent(void) {
  char names[LINE_MAX_BYTES], numbers[LINE_MAX_BYTES];
  uint64_t resent = 0;
  FILE *file = fopen("/proc/net/snmp", "re");
  if (!file) return 0;
  while (fgets(names, sizeof names, file) && fgets(numbers, sizeof numbers, file)) {
    if (strncmp(names, "Tcp:", 4) == 0) resent = number_named(names, numbers, "RetransSegs");
  }
  fclose(file);
  return resent;
}

struct vv_traffic vv_traffic_since(const struct vv_traffic *before, const struct vv_traffic *now) {
  return (struct vv_traffic){.tx_bytes = now->tx_bytes - before->tx_bytes,
                             .tx_frames = now->tx_frames - before->tx_frames,
                             .rx_bytes = now->rx_bytes - before->rx_bytes,
                             .rx_frames = now->rx_frames - before->rx_frames};
}

void vv_traffic_add(struct vv_traffic *sum, const struct vv_traffic *more) {
  sum->tx_bytes += more->tx_bytes;
  sum->tx_frames += more->tx_frames;
  sum->rx_bytes += more->rx_bytes;
  sum->rx_frames += more->rx_frames;
}
