/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/btl/route.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANY_PORT = 9 }; /* nothing is sent there */

/* A datagram socket that is connected has the address that its datagrams would leave by. */
static int towards(const struct sockaddr *to, socklen_t length, char name[VV_IFACE_NAME_MAX]) {
  struct sockaddr_storage own;
  socklen_t own_length = sizeof own;
  char text[INET6_ADDRSTRLEN];
  struct vv_error ignored;
  int fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  int result = connect(fd, to, length);
  if (result == 0) result = getsockname(fd, (struct sockaddr *)&own, &own_length);
  close(fd);
  if (result != 0 || getnameinfo((struct sockaddr *)&own, own_length, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
    return -1;
  return vv_iface_of(text, name, &ignored);
}

static int to_host(const char *host, char name[VV_IFACE_NAME_MAX]) {
  struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found;
  char port[8];
  snprintf(port, sizeof port, "%d", ANY_PORT);
  if (getaddrinfo(host, port, &hints, &found) != 0) return -1;
  int result = -1;
  for (struct addrinfo *at = found; at && result != 0; at = at->ai_next) {
    result = towards(at->ai_addr, at->ai_addrlen, name);
  }
  freeaddrinfo(found);
  return result;
}

int vv_route_iface(const char *hosts, const char *own, char name[VV_IFACE_NAME_MAX], struct vv_error *error) {
  char *rest, *list = strdup(hosts);
  int result = -1;
  for (char *host = list ? strtok_r(list, ",", &rest) : NULL; host && result != 0; host = strtok_r(NULL, ",", &rest)) {
    if (strcmp(host, own) != 0) result = to_host(host, name);
  }
  free(list);
  return result == 0 ? 0 : vv_error_set(error, "no-iface", "no interface is known to lead to %.100s", hosts);
}

void vv_route_network(const char *iface, uint32_t *network, uint8_t *prefix) {
  struct ifaddrs *all;
  *network = *prefix = 0;
  if (getifaddrs(&all) != 0) return;
  for (const struct ifaddrs *at = all; at && *network == 0; at = at->ifa_next) {
    if (!at->ifa_addr || !at->ifa_netmask || at->ifa_addr->sa_family != AF_INET || strcmp(at->ifa_name, iface) != 0)
      continue;
    uint32_t address = ntohl(((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr.s_addr);
    uint32_t mask = ntohl(((const struct sockaddr_in *)(const void *)at->ifa_netmask)->sin_addr.s_addr);
    *network = address & mask;
    *prefix = (uint8_t)__builtin_popcount(mask);
  }
  freeifaddrs(all);
}
