/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vaiven-sim llc-cost: what the core of `llc` costs on this machine, in ns of
 * processor time for each frame: made by one station and taken by the other,
 * headers and data copied once between them as a card would.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/llc/station.h"
#include "sim/verbs.h"

enum { PING_PONGS = 200000, STREAM_MESSAGES = 200, STREAM_BYTES = 1000000, WARM_UP = 1000 };

struct ends {
  struct vv_llc_station stations[2];
  void *memory[2];
  uint32_t links[2];
  vv_ns now_ns;
  uint64_t frames;
  uint32_t taken[2]; /* bytes of messages */
  uint32_t done;     /* messages acknowledged, of either */
};

static struct vv_llc_address address(int which) {
  return (struct vv_llc_address){.mac = {2, 0, 0, 0, 0, (uint8_t)(which + 1)}, .sap = 0x64};
}

static void start(struct ends *ends) {
  *ends = (struct ends){.now_ns = 1};
  for (int i = 0; i < 2; i++) {
    struct vv_llc_station_config config;
    vv_llc_station_defaults(&config);
    config.self = address(i);
    config.incarnation = (uint32_t)i;
    ends->memory[i] = malloc(vv_llc_station_bytes(&config));
    if (ends->memory[i] == NULL) abort();
    vv_llc_station_init(&ends->stations[i], ends->memory[i], &config);
  }
  struct vv_llc_address peer = address(1);
  ends->links[0] = vv_llc_station_connect(&ends->stations[0], ends->now_ns, &peer);
}

static void take(struct ends *ends, int which) {
  struct vv_llc_station_event event;
  while (vv_llc_station_take(&ends->stations[which], ends->now_ns, &event)) {
    if (event.what == VV_LLC_STATION_CONNECTED) ends->links[which] = event.link;
    if (event.what == VV_LLC_STATION_DATA) ends->taken[which] += (uint32_t)event.data_bytes;
    if (event.what == VV_LLC_STATION_SENT) ends->done++;
  }
}

/* All frames that there are, there and back, until there are none. */
static void run(struct ends *ends) {
  struct vv_llc_station_frame frame;
  uint8_t bytes[VV_ENVELOPE_BYTES + VV_FRAME_DATA_BYTES_MAX];
  for (bool any = true; any;) {
    any = false;
    for (int i = 0; i < 2; i++) {
      while (vv_llc_station_next_frame(&ends->stations[i], ends->now_ns, &frame)) {
        any = true;
        memcpy(bytes, frame.head, frame.head_bytes);
        if (frame.data_bytes > 0) memcpy(bytes + frame.head_bytes, frame.data, frame.data_bytes);
        ends->frames++;
        ends->now_ns += VV_US;
        vv_llc_station_receive(&ends->stations[!i], ends->now_ns, bytes, frame.head_bytes + frame.data_bytes);
        take(ends, !i);
      }
    }
    for (int i = 0; i < 2; i++) vv_llc_station_tick(&ends->stations[i], ends->now_ns);
  }
}

static double cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double ping_pong(struct ends *ends, int count) {
  static const uint8_t byte = 1;
  uint64_t frames = ends->frames;
  double begin_ns = cpu_ns();
  for (int i = 0; i < count; i++) {
    int from = i % 2;
    vv_llc_station_send(&ends->stations[from], ends->now_ns, ends->links[from], &byte, 1, 0);
    run(ends);
  }
  return (cpu_ns() - begin_ns) / (double)(ends->frames - frames);
}

static double stream(struct ends *ends) {
  static uint8_t bytes[STREAM_BYTES];
  uint64_t frames = ends->frames;
  double begin_ns = cpu_ns();
  for (int i = 0; i < STREAM_MESSAGES; i++) {
    vv_llc_station_send(&ends->stations[0], ends->now_ns, ends->links[0], bytes, sizeof bytes, 0);
    run(ends);
  }
  return (cpu_ns() - begin_ns) / (double)(ends->frames - frames);
}

int vv_sim_verb_llc_cost(int argc, char **argv) {
  (void)argv;
  if (argc != 0) {
    fputs("usage: vaiven-sim llc-cost\n", stderr);
    return 2;
  }
  struct ends ends;
  start(&ends);
  run(&ends);
  ping_pong(&ends, WARM_UP);
  printf("{\"type\":\"llc-cost\",\"ping_pong_ns_per_frame\":%.0f,", ping_pong(&ends, PING_PONGS));
  printf("\"stream_ns_per_frame\":%.0f}\n", stream(&ends));
  for (int i = 0; i < 2; i++) free(ends.memory[i]);
  return EXIT_SUCCESS;
}
