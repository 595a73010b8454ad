/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/port/sap.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/wire/lpdu.h"

enum { STEP = 4, SAP_MAX = 0xFF };

bool vv_sap_usable(uint8_t sap) {
  static const uint8_t given[] = {0x00, 0x04, 0x08, 0x0C, 0x80, 0x98, 0xBC, 0xE0, 0xF0, 0xF4, 0xF8, 0xFC};
  return sap % STEP == 0 && !memchr(given, sap, sizeof given);
}

uint32_t vv_sap_count(void) {
  uint32_t count = 0;
  for (unsigned sap = 0; sap <= SAP_MAX; sap++) count += vv_sap_usable((uint8_t)sap);
  return count;
}

/* A name without a file, which no two sockets of a network namespace can have. 0, or -1 and errno. */
static int claim(int fd, int iface_index, unsigned sap) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "vaiven/sap/%d/%02x", iface_index, sap);
  return bind(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
}

int vv_sap_refuse(uint8_t sap, struct vv_error *error) {
  vv_error_set(error, "bad-sap", "0x%02x is no SAP for a program", sap);
  return vv_error_remedy(error, "take a multiple of 4, without 00 04 08 0c 80 98 bc e0 f0 f4 f8 fc");
}

static int claim_one(int fd, int iface_index, uint8_t sap, struct vv_error *error) {
  if (!vv_sap_usable(sap)) return vv_sap_refuse(sap, error);
  if (claim(fd, iface_index, sap) == 0) return 0;
  if (errno != EADDRINUSE) return vv_error_errno(error, "socket", "cannot claim the SAP 0x%02x", sap);
  vv_error_set(error, "sap-taken", "another program of this host has the SAP 0x%02x of this interface", sap);
  return vv_error_remedy(error, "let that one end, or take another SAP");
}

static int claim_any(int fd, int iface_index, uint8_t *sap, struct vv_error *error) {
  for (unsigned one = STEP; one < SAP_MAX; one += STEP) {
    if (!vv_sap_usable((uint8_t)one) || one == VV_LPDU_SAP) continue;
    if (claim(fd, iface_index, one) == 0) {
      *sap = (uint8_t)one;
      return 0;
    }
  }
  return vv_error_set(error, "sap-taken", "all SAPs of this interface are taken by programs of this host");
}

int vv_sap_claim(int iface_index, uint8_t *sap, struct vv_error *error) {
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return vv_error_errno(error, "socket", "cannot make a socket to claim a SAP with");
  int result = *sap ? claim_one(fd, iface_index, *sap, error) : claim_any(fd, iface_index, sap, error);
  if (result == 0) return fd;
  close(fd);
  return -1;
}
