/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is on this Ethernet, by the means of IEEE 802.2 alone: TEST commands to
 * everybody, to the null SAP, which a host's kernel answers where it has LLC, and
 * to the global SAP, which each station of ours answers with its own.
 *
 * A host without either is not found; `vaiven-probe station` is a station for
 * that, which does nothing else.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/time.h"
#include "io/engine/node.h"
#include "io/os/watch.h"
#include "probe/base/record.h"
#include "probe/show/show.h"

enum { STATIONS_MAX = 8192, UNITS = 1024, ASKED_TIMES = 3 };
static const vv_ns tick_ns = 20 * VV_MS;

struct map {
  struct vv_node node;
  struct vv_llc_address *found;
  size_t count;
};

static bool stop_waiting(void *context) {
  (void)context;
  return vv_watch_launcher_gone();
}

static bool never(void *context) {
  (void)context;
  return false;
}

/* Answers come once for each time that was asked, and from each station of a host where they are the host's. */
static void note(struct map *map, const struct vv_llc_address *at) {
  for (size_t i = 0; i < map->count; i++) {
    if (vv_llc_address_compare(&map->found[i], at) == 0) return;
  }
  if (map->count < STATIONS_MAX) map->found[map->count++] = *at;
}

static void tell(void *context, const struct vv_llc_station_event *event) {
  if (event->what == VV_LLC_STATION_ECHO) note(context, &event->peer);
}

static int open_station(struct map *map, const struct vv_probe_config *config, struct vv_error *error) {
  struct vv_node_config node_config = {.iface = config->iface,
                                       .sap = (uint8_t)config->sap,
                                       .links = 1,
                                       .stop = {.ask = stop_waiting},
                                       .tell = tell,
                                       .context = map};
  if (!config->iface) {
    vv_error_set(error, "usage", "--iface is missing");
    return vv_error_remedy(error, "see vaiven-probe --help");
  }
  if (vv_watch_start(tick_ns, error) != 0 || vv_node_open(&map->node, &node_config, error) != 0) return -1;
  struct vv_llc_station_config station;
  vv_llc_station_defaults(&station);
  station.listen = VV_LLC_LISTEN_REFUSE;
  station.units = UNITS;
  if (vv_node_start(&map->node, station, error) == 0) return 0;
  vv_node_close(&map->node);
  return -1;
}

static void record_address(struct vv_record *record, const struct vv_llc_address *at) {
  char mac[18];
  snprintf(mac, sizeof mac, "%02x:%02x:%02x:%02x:%02x:%02x", at->mac[0], at->mac[1], at->mac[2], at->mac[3], at->mac[4],
           at->mac[5]);
  vv_record_text(record, "mac", mac);
  vv_record_int(record, "sap", at->sap);
}

/* map ------------------------------------------------------------------ */

static int ask_all(struct map *map, vv_ns wait_ns, struct vv_error *error) {
  const struct vv_llc_address hosts = {.mac = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, .sap = VV_LLC_SAP_NULL};
  struct vv_llc_address saps = hosts;
  saps.sap = VV_LLC_SAP_GLOBAL;
  for (int i = 0; i < ASKED_TIMES; i++) {
    vv_llc_station_test(&map->node.station, &hosts, "", 0);
    vv_llc_station_test(&map->node.station, &saps, "", 0);
    if (vv_node_run(&map->node, never, vv_clock_ns() + wait_ns / ASKED_TIMES, error) == VV_ENGINE_RAN_ERROR) return -1;
  }
  return 0;
}

static int in_order(const void *a, const void *b) {
  return vv_llc_address_compare(a, b);
}

static int print_map(struct map *map, struct vv_error *error) {
  struct vv_record record;
  qsort(map->found, map->count, sizeof *map->found, in_order);
  vv_record_begin_stream(&record, "map");
  record_address(&record, &map->node.self);
  vv_record_array(&record, "stations");
  for (size_t i = 0; i < map->count; i++) {
    vv_record_object(&record, NULL);
    record_address(&record, &map->found[i]);
    vv_record_object_end(&record);
  }
  vv_record_array_end(&record);
  return vv_record_end(&record, error);
}

int vv_show_map(const struct vv_probe_config *config, struct vv_error *error) {
  struct map map = {.found = malloc(STATIONS_MAX * sizeof *map.found)};
  if (!map.found) return vv_error_set(error, "no-memory", "no memory for a map");
  int result = open_station(&map, config, error);
  if (result == 0) {
    result = ask_all(&map, config->timeout_ns, error) == 0 ? print_map(&map, error) : -1;
    vv_node_close(&map.node);
  }
  free(map.found);
  return result;
}

/* station -------------------------------------------------------------- */

int vv_show_station(const struct vv_probe_config *config, struct vv_error *error) {
  struct map map = {.found = NULL};
  struct vv_record record;
  vv_watch_launcher();
  if (open_station(&map, config, error) != 0) return -1;
  vv_record_begin_stream(&record, "station");
  record_address(&record, &map.node.self);
  int result = vv_record_end(&record, error);
  if (result == 0 && vv_node_run(&map.node, never, VV_NEVER, error) == VV_ENGINE_RAN_ERROR) result = -1;
  vv_node_close(&map.node);
  return result;
}
