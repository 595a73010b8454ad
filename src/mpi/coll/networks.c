/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/networks.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_wireless(const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/sys/class/net/%.*s/wireless", IFNAMSIZ - 1, name);
  return access(path, F_OK) == 0;
}

static bool can_carry(const struct ifaddrs *one, const char *only) {
  const unsigned wanted = IFF_UP | IFF_MULTICAST | IFF_BROADCAST;
  if (!one->ifa_addr || !one->ifa_netmask || one->ifa_addr->sa_family != AF_INET) return false;
  if ((one->ifa_flags & (wanted | IFF_LOOPBACK)) != wanted) return false;
  if (only && *only) return strcmp(one->ifa_name, only) == 0;
  return !is_wireless(one->ifa_name);
}

static uint32_t number_of(const struct sockaddr *address) {
  return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
}

void vv_networks_own(const char *only, struct vv_passport *passport) {
  struct ifaddrs *all;
  passport->networks_count = 0;
  if (getifaddrs(&all) != 0) return;
  for (const struct ifaddrs *one = all; one && passport->networks_count < VV_PASSPORT_NETWORKS_MAX;
       one = one->ifa_next) {
    if (!can_carry(one, only)) continue;
    const uint8_t prefix = (uint8_t)__builtin_popcount(number_of(one->ifa_netmask));
    if (prefix == 0) continue;
    passport->networks[passport->networks_count++] = (struct vv_passport_network){number_of(one->ifa_addr), prefix};
  }
  freeifaddrs(all);
}
