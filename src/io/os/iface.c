/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/iface.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io/os/socket.h"

#define WORD_BYTES      16
#define SHARED_MBPS_MAX 1000 /* IEEE 802.3 has no half duplex above */
#define MBPS_MAX        1600000

static bool same_host(const struct sockaddr *a, const struct vv_address *b) {
  if (!a || a->sa_family != b->any.sa_family) return false;
  if (a->sa_family == AF_INET) return ((const struct sockaddr_in *)a)->sin_addr.s_addr == b->v4.sin_addr.s_addr;
  return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &b->v6.sin6_addr, sizeof b->v6.sin6_addr) == 0;
}

int vv_iface_of(const char *address, char name[VV_IFACE_NAME_MAX], struct vv_error *error) {
  struct vv_address wanted;
  struct ifaddrs *all;
  if (vv_address_parse(address, 0, &wanted, error) != 0) return -1;
  if (getifaddrs(&all) != 0) return vv_error_errno(error, "no-iface", "cannot list the interfaces");
  bool found = false;
  for (struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
    found = strlen(one->ifa_name) < VV_IFACE_NAME_MAX && same_host(one->ifa_addr, &wanted);
    if (found) memcpy(name, one->ifa_name, strlen(one->ifa_name) + 1);
  }
  freeifaddrs(all);
  if (found) return 0;
  vv_error_set(error, "no-iface", "no interface of this host has the address %s", address);
  return vv_error_remedy(error, "`ip address` lists those that it has");
}

static int ask(int fd, unsigned long request, struct ifreq *answer, const char *name, struct vv_error *error) {
  memset(answer, 0, sizeof *answer);
  memcpy(answer->ifr_name, name, strlen(name));
  if (ioctl(fd, request, answer) == 0) return 0;
  vv_error_errno(error, "no-iface", "interface '%s'", name);
  return vv_error_remedy(error, "name an interface of this host; `ip link` lists them");
}

static int ask_all(int fd, const char *name, struct vv_iface *iface, struct vv_error *error) {
  struct ifreq answer;
  if (ask(fd, SIOCGIFFLAGS, &answer, name, error) != 0) return -1;
  iface->up = answer.ifr_flags & IFF_UP;
  if (ask(fd, SIOCGIFHWADDR, &answer, name, error) != 0) return -1;
  const unsigned short kind = answer.ifr_hwaddr.sa_family;
  iface->ethernet = kind == ARPHRD_ETHER || kind == ARPHRD_LOOPBACK;
  memcpy(iface->mac, answer.ifr_hwaddr.sa_data, sizeof iface->mac);
  if (ask(fd, SIOCGIFMTU, &answer, name, error) != 0) return -1;
  iface->mtu_bytes = (size_t)answer.ifr_mtu;
  if (ask(fd, SIOCGIFINDEX, &answer, name, error) != 0) return -1;
  iface->index = answer.ifr_ifindex;
  return 0;
}

int vv_iface_read(const char *name, struct vv_iface *iface, struct vv_error *error) {
  if (strlen(name) >= VV_IFACE_NAME_MAX) {
    return vv_error_set(error, "no-iface", "'%s' is too long for the name of an interface", name);
  }
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return vv_error_errno(error, "socket", "cannot open a socket");
  struct vv_iface found = {0};
  memcpy(found.name, name, strlen(name));
  int result = ask_all(fd, name, &found, error);
  close(fd);
  if (result == 0) *iface = found;
  return result;
}

/* The first word of a file of that interface in /sys/class/net: "" when there is none. */
static void read_word(const char *name, const char *file, char word[WORD_BYTES]) {
  char path[64];
  word[0] = '\0';
  snprintf(path, sizeof path, "/sys/class/net/%s/%s", name, file);
  FILE *open = fopen(path, "re");
  if (!open) return;
  if (fscanf(open, "%15s", word) != 1) word[0] = '\0'; /* a card that is down gives an error for an answer */
  fclose(open);
}

/* 0: it says none, or more than there is. */
static uint32_t read_mbps(const char *name, long most) {
  char speed[WORD_BYTES];
  read_word(name, "speed", speed);
  const long mbps = strtol(speed, NULL, 10);
  return mbps > 0 && mbps <= most ? (uint32_t)mbps : 0;
}

uint32_t vv_iface_shared_mbps(const char *name) {
  char duplex[WORD_BYTES];
  read_word(name, "duplex", duplex);
  return strcmp(duplex, "half") == 0 ? read_mbps(name, SHARED_MBPS_MAX) : 0;
}

uint32_t vv_iface_mbps(const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/sys/class/net/%.*s/device", VV_IFACE_NAME_MAX, name);
  return access(path, F_OK) == 0 ? read_mbps(name, MBPS_MAX) : 0;
}
