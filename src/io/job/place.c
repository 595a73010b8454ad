/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/job/place.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/wire/letter.h"
#include "io/os/host.h"
#include "io/os/socket.h"

#define BACKLOG VV_GROUP_RANKS_MAX /* all may come before rank 0 looks */

static const uint8_t zeros[VV_KEY_BYTES];

static int listen_there(struct vv_place *place, struct vv_error *error) {
  struct vv_address at = place->at;
  const uint16_t port = vv_address_port(&at);
  place->listener = vv_socket_listening(&at, port, port, BACKLOG, error);
  return place->listener >= 0 ? 0 : -1;
}

static int read_meeting(struct vv_place *place, const struct vv_group_config *config, struct vv_error *error) {
  if (vv_address_parse_pair(config->meeting, &place->at, error) != 0) return -1;
  if (place->at.any.sa_family != AF_INET) return vv_error_set(error, "bad-address", "a group needs IPv4 addresses");
  const uint16_t port = vv_address_port(&place->at);
  if (port != 0 && port != UINT16_MAX) return config->rank == 0 ? listen_there(place, error) : 0;
  vv_error_set(error, "bad-port", "a group cannot meet at %.64s: it needs that port and the one after it",
               config->meeting);
  return vv_error_remedy(error, "give a port from 1 to 65534");
}

/* Rank 0 listens at a port that the kernel chooses, and draws the key if none was given. */
static int choose(struct vv_place *place, const struct vv_group_config *config, uint8_t record[VV_LETTER_PLACE_BYTES],
                  struct vv_error *error) {
  uint8_t drawn[VV_KEY_BYTES] = {0};
  if (vv_address_parse(config->address, 0, &place->at, error) != 0) return -1;
  if (place->at.any.sa_family != AF_INET) return vv_error_set(error, "bad-address", "a group needs IPv4 addresses");
  if (memcmp(place->key, zeros, sizeof zeros) == 0) {
    if (vv_host_random(drawn, sizeof drawn, error) != 0) return -1;
    memcpy(place->key, drawn, sizeof drawn);
  }
  do {
    if (place->listener >= 0) close(place->listener);
    place->listener = vv_socket_listening(&place->at, 0, 0, BACKLOG, error);
  } while (place->listener >= 0 && vv_address_port(&place->at) == UINT16_MAX);
  if (place->listener < 0) return -1;
  const struct vv_letter_seat seat = {ntohl(place->at.v4.sin_addr.s_addr), vv_address_port(&place->at), 0};
  vv_letter_place_emit(&seat, drawn, record);
  explicit_bzero(drawn, sizeof drawn);
  return 0;
}

/* What rank 0 has told. */
static int hear(struct vv_place *place, const uint8_t record[VV_LETTER_PLACE_BYTES], struct vv_error *error) {
  static const uint8_t nothing[VV_LETTER_PLACE_BYTES];
  struct vv_letter_seat seat;
  uint8_t told[VV_KEY_BYTES];
  if (memcmp(record, nothing, sizeof nothing) == 0) {
    vv_error_set(error, "rank-failed", "rank 0 could not open the group");
    return vv_error_remedy(error, "its own error says why");
  }
  if (!vv_letter_place_parse(record, &seat, told)) {
    vv_error_set(error, "exchange-failed", "what the exchange gave as the record of rank 0 is none");
    return vv_error_remedy(error, "it gives all records in the order of the ranks, as they are");
  }
  if (memcmp(place->key, zeros, sizeof zeros) == 0) memcpy(place->key, told, sizeof told);
  explicit_bzero(told, sizeof told);
  if (memcmp(place->key, zeros, sizeof zeros) == 0) {
    return vv_error_set(error, "bad-key", "rank 0 has a key, and this rank has none");
  }
  place->at = (struct vv_address){.length = sizeof place->at.v4};
  place->at.v4 =
      (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(seat.port), .sin_addr.s_addr = htonl(seat.address)};
  return 0;
}

static int exchange(struct vv_place *place, const struct vv_group_config *config, struct vv_error *error) {
  uint8_t own[VV_LETTER_PLACE_BYTES] = {0}, *all = calloc(config->ranks, sizeof own);
  if (!all) return vv_error_set(error, "no-memory", "no memory for the records of %u ranks", config->ranks);
  int result = config->rank == 0 ? choose(place, config, own, error) : 0;
  if (config->exchange(config->context, own, all, sizeof own) != 0 && result == 0) {
    result = vv_error_set(error, "exchange-failed", "the exchange of records among the ranks has failed");
  }
  if (result == 0 && config->rank != 0) result = hear(place, all, error);
  explicit_bzero(all, config->ranks * sizeof own);
  explicit_bzero(own, sizeof own);
  free(all);
  return result;
}

int vv_place_find(struct vv_place *place, const struct vv_group_config *config, struct vv_error *error) {
  *place = (struct vv_place){.listener = -1};
  memcpy(place->key, config->key, sizeof place->key);
  return config->exchange ? exchange(place, config, error) : read_meeting(place, config, error);
}

void vv_place_close(struct vv_place *place) {
  if (place->listener >= 0) close(place->listener);
  explicit_bzero(place, sizeof *place);
  place->listener = -1;
}
