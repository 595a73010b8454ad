/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/os/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad_address(const char *text, struct vv_error *error) {
  vv_error_set(error, "bad-address", "\"%.80s\" is not a numeric IPv4 or IPv6 address", text);
  return vv_error_remedy(
      error, "give an address such as 10.1.0.2 or fe80::1%%eth0, with a port 10.1.0.2:4000 or [fe80::1%%eth0]:4000");
}

static int parse_v6(const char *host, uint16_t port, struct vv_address *address) {
  char digits[VV_ADDRESS_TEXT_MAX];
  snprintf(digits, sizeof digits, "%s", host);
  char *scope = strchr(digits, '%');
  if (scope) *scope++ = '\0';
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
  if (inet_pton(AF_INET6, digits, &v6.sin6_addr) != 1) return -1;
  if (scope && !(v6.sin6_scope_id = if_nametoindex(scope))) return -1;
  address->v6 = v6;
  address->length = sizeof v6;
  return 0;
}

int vv_address_parse(const char *host, uint16_t port, struct vv_address *address, struct vv_error *error) {
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
  if (strlen(host) >= VV_ADDRESS_TEXT_MAX) return bad_address(host, error);
  if (inet_pton(AF_INET, host, &v4.sin_addr) != 1) {
    return parse_v6(host, port, address) == 0 ? 0 : bad_address(host, error);
  }
  address->v4 = v4;
  address->length = sizeof v4;
  return 0;
}

/* Where the port begins: behind the last colon, unless the text is a bare IPv6 address. NULL: no port. */
static const char *port_of(const char *text) {
  const char *colon = strrchr(text, ':');
  bool bare_v6 = colon && text[0] != '[' && strchr(text, ':') != colon;
  bool closing = colon && text[0] == '[' && colon[-1] != ']';
  return colon && !bare_v6 && !closing ? colon + 1 : NULL;
}

int vv_address_parse_pair(const char *text, struct vv_address *address, struct vv_error *error) {
  char host[VV_ADDRESS_TEXT_MAX];
  const char *port_text = port_of(text);
  unsigned long port = 0;
  if (port_text) {
    char *end;
    port = strtoul(port_text, &end, 10);
    if (*port_text < '0' || *port_text > '9' || *end || port > 65535) return bad_address(text, error);
  }
  size_t length = port_text ? (size_t)(port_text - text) - 1 : strlen(text);
  if (length >= sizeof host) return bad_address(text, error);
  memcpy(host, text, length);
  host[length] = '\0';
  if (host[0] != '[') return vv_address_parse(host, (uint16_t)port, address, error);
  if (host[length - 1] != ']') return bad_address(text, error);
  host[length - 1] = '\0';
  return vv_address_parse(host + 1, (uint16_t)port, address, error);
}

void vv_address_format_host(const struct vv_address *address, char text[VV_ADDRESS_TEXT_MAX]) {
  char digits[INET6_ADDRSTRLEN] = "", scope[IF_NAMESIZE] = "";
  if (address->any.sa_family == AF_INET) {
    inet_ntop(AF_INET, &address->v4.sin_addr, digits, sizeof digits);
  } else {
    inet_ntop(AF_INET6, &address->v6.sin6_addr, digits, sizeof digits);
    if (address->v6.sin6_scope_id) if_indextoname(address->v6.sin6_scope_id, scope);
  }
  snprintf(text, VV_ADDRESS_TEXT_MAX, "%s%s%s", digits, scope[0] ? "%" : "", scope);
}

void vv_address_format(const struct vv_address *address, char text[VV_ADDRESS_TEXT_MAX]) {
  char host[VV_ADDRESS_TEXT_MAX];
  vv_address_format_host(address, host);
  bool v6 = address->any.sa_family == AF_INET6;
  snprintf(text, VV_ADDRESS_TEXT_MAX, "%s%.64s%s:%u", v6 ? "[" : "", host, v6 ? "]" : "", vv_address_port(address));
}

uint16_t vv_address_port(const struct vv_address *address) {
  return ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port : address->v6.sin6_port);
}

void vv_address_set_port(struct vv_address *address, uint16_t port) {
  if (address->any.sa_family == AF_INET)
    address->v4.sin_port = htons(port);
  else
    address->v6.sin6_port = htons(port);
}

static bool has_address(const struct ifaddrs *one, const struct vv_address *address) {
  const struct sockaddr_in *own = (const struct sockaddr_in *)(const void *)one->ifa_addr;
  return own && one->ifa_netmask && own->sin_family == AF_INET && own->sin_addr.s_addr == address->v4.sin_addr.s_addr;
}

int vv_address_broadcast(struct vv_address *address, struct vv_error *error) {
  struct ifaddrs *all;
  if (address->any.sa_family != AF_INET) return vv_error_set(error, "no-iface", "only IPv4 has a broadcast address");
  if (getifaddrs(&all) != 0) return vv_error_errno(error, "no-iface", "cannot list the interfaces");
  const struct ifaddrs *one = all;
  while (one && !has_address(one, address)) one = one->ifa_next;
  bool found = one != NULL;
  if (found) {
    const struct sockaddr_in *mask = (const struct sockaddr_in *)(const void *)one->ifa_netmask;
    address->v4.sin_addr.s_addr |= ~mask->sin_addr.s_addr;
  }
  freeifaddrs(all);
  return found ? 0 : vv_error_set(error, "no-iface", "no interface has the own IPv4 address");
}

bool vv_address_equal(const struct vv_address *a, const struct vv_address *b) {
  if (a->any.sa_family != b->any.sa_family || vv_address_port(a) != vv_address_port(b)) return false;
  if (a->any.sa_family == AF_INET) return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
  return memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr) == 0;
}
