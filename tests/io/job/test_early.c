/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes of a group before it is there is not lost, if it is the group's. */
#include "io/job/early.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/wire/accord.h"
#include "io/job/stream.h"

enum { ROOM = 500, BYTES = 3000, EPOCH = 5, LIST = 1000 };

static const struct sockaddr_in peers[2] = {{.sin_family = AF_INET}, {.sin_family = AF_INET}};

static struct vv_job_stream *make(uint32_t rank, uint32_t epoch) {
  const struct vv_job_stream_config config = {
      .core = {.ranks = 2, .rank = rank, .datagram_bytes = ROOM, .window_datagrams = 8, .rtt_ns = VV_MS},
      .peers = peers};
  struct vv_job_stream *stream = vv_job_stream_new(&config);
  assert_non_null(stream);
  vv_job_stream_open(stream, vv_accord_number(LIST, 1), epoch);
  return stream;
}

/* A root that sends more than one datagram, of which those are kept. */
static struct vv_job_stream *cast(struct vv_early *early, struct vv_job_stream_operation *out) {
  struct vv_job_stream *root = make(0, EPOCH);
  struct vv_rank_datagram datagram;
  uint8_t bytes[ROOM];
  vv_job_stream_begin(root, VV_SEC, out);
  while (vv_rank_next(&root->core, VV_SEC, &datagram)) {
    if (datagram.way != VV_RANK_TO_DATA) continue;
    memcpy(bytes, datagram.header, datagram.header_bytes);
    memcpy(bytes + datagram.header_bytes, datagram.payload, datagram.payload_bytes);
    assert_true(
        vv_early_keep(early, root->number, VV_RANK_SOCKET_DATA, bytes, datagram.header_bytes + datagram.payload_bytes));
  }
  assert_in_range(early->count, BYTES / ROOM + 1, VV_EARLY_MAX);
  return root;
}

static bool is_done(struct vv_job_stream *stream) {
  struct vv_rank_event event;
  while (vv_rank_event(&stream->core, &event)) {
    if (event.kind == VV_RANK_DONE) vv_job_stream_done(stream, VV_SEC, event.size_bytes);
  }
  return !stream->first;
}

static void test_what_was_kept_is_the_groups(void **state) {
  (void)state;
  for (uint32_t epoch = EPOCH; epoch <= EPOCH + 1; epoch++) {
    struct vv_early early = {0};
    uint8_t bytes[BYTES], got[BYTES] = {0};
    memset(bytes, 9, sizeof bytes);
    struct vv_job_stream_operation out = {.what = {.buffer = bytes, .size_bytes = BYTES, .size_known = true}};
    struct vv_job_stream_operation in = {.what = {.buffer = got, .size_bytes = BYTES, .size_known = true}};
    vv_early_begin(&early, LIST, ROOM);
    struct vv_job_stream *root = cast(&early, &out), *stream = make(1, epoch);
    vv_early_give(&early, vv_accord_number(LIST, 0), &stream->core, VV_SEC);
    assert_int_equal(stream->core.counts.taken + stream->core.counts.foreign, 0);
    vv_early_give(&early, stream->number, &stream->core, VV_SEC);
    vv_job_stream_begin(stream, VV_SEC, &in);
    assert_int_equal(is_done(stream), epoch == EPOCH); /* another epoch is another group */
    assert_int_equal(got[BYTES - 1], epoch == EPOCH ? 9 : 0);
    vv_job_stream_free(root);
    vv_job_stream_free(stream);
    vv_early_free(&early);
  }
}

static bool keep(struct vv_early *early, uint32_t number, size_t count) {
  static const uint8_t bytes[ROOM + 1];
  return vv_early_keep(early, number, VV_RANK_SOCKET_CONTROL, bytes, count);
}

static void test_no_more_is_kept_than_may_be_needed(void **state) {
  (void)state;
  struct vv_early early = {0};
  assert_false(keep(&early, 0, 1)); /* nothing is being made */
  vv_early_begin(&early, LIST, ROOM);
  assert_false(keep(&early, vv_accord_number(LIST, VV_EARLY_NUMBERS), 1));
  assert_true(keep(&early, vv_accord_number(LIST, 0), ROOM + 1) && early.count == 0);
  for (int i = 0; i <= VV_EARLY_MAX; i++) assert_true(keep(&early, vv_accord_number(LIST, 0), ROOM));
  assert_int_equal(early.count, VV_EARLY_MAX);
  vv_early_end(&early);
  assert_true(!keep(&early, vv_accord_number(LIST, 0), ROOM) && early.count == 0);
  vv_early_free(&early);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_was_kept_is_the_groups),
      cmocka_unit_test(test_no_more_is_kept_than_may_be_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
