/* SPDX-License-Identifier: BSD-3-Clause */
/* A group as a stream of a job: what was begun is carried out in its order, and nothing of an older one is believed. */
#include "io/job/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STREAM = 0x123400, NUMBER = 7, BYTES = 100 };

static const struct sockaddr_in peers[] = {{.sin_family = AF_INET, .sin_addr.s_addr = 0x0100000a},
                                           {.sin_family = AF_INET, .sin_addr.s_addr = 0x0200000a},
                                           {.sin_family = AF_INET, .sin_addr.s_addr = 0x0300000a}};
static const uint32_t members[] = {2, 0};

/* Of ranks 2 and 0 of a job: as that rank of the group sees it. */
static struct vv_job_stream *make(uint32_t rank, uint32_t epoch) {
  const struct vv_job_stream_config config = {.core = {.ranks = 2,
                                                       .rank = rank,
                                                       .key = {1, 2, 3},
                                                       .stream = STREAM,
                                                       .datagram_bytes = 500,
                                                       .window_datagrams = 8,
                                                       .rtt_ns = VV_MS},
                                              .members = members,
                                              .peers = peers};
  struct vv_job_stream *stream = vv_job_stream_new(&config);
  assert_non_null(stream);
  vv_job_stream_open(stream, NUMBER, epoch);
  return stream;
}

static struct vv_job_stream_operation operation(uint32_t root, uint8_t *buffer) {
  return (struct vv_job_stream_operation){
      .what = {.root = root, .buffer = buffer, .size_bytes = BYTES, .size_known = true}};
}

/* The next datagram of data that the root sends. */
static size_t next(struct vv_job_stream *root, uint8_t bytes[500]) {
  struct vv_rank_datagram datagram;
  while (vv_rank_next(&root->core, VV_SEC, &datagram)) {
    if (datagram.way != VV_RANK_TO_DATA) continue;
    memcpy(bytes, datagram.header, datagram.header_bytes);
    memcpy(bytes + datagram.header_bytes, datagram.payload, datagram.payload_bytes);
    return datagram.header_bytes + datagram.payload_bytes;
  }
  return 0;
}

/* Tells the stream what its core says; true: the next operation was started. */
static bool hear(struct vv_job_stream *stream) {
  struct vv_rank_event event;
  bool started = false;
  while (vv_rank_event(&stream->core, &event)) {
    if (event.kind == VV_RANK_DONE) started |= vv_job_stream_done(stream, VV_SEC, event.size_bytes);
    if (event.kind == VV_RANK_FAILED) vv_job_stream_failed(stream, &event.failure);
  }
  return started;
}

static void what_comes_late_of_an_older_group_is_not_believed(void **state) {
  (void)state;
  uint8_t sent[BYTES] = {5}, got[BYTES] = {0}, bytes[500];
  struct vv_job_stream *old = make(0, 1), *same = make(1, 1), *later = make(1, 2);
  struct vv_job_stream_operation out = operation(0, sent), in = operation(0, got), wrong = operation(0, got);
  vv_job_stream_begin(old, VV_SEC, &out);
  vv_job_stream_begin(same, VV_SEC, &in);
  vv_job_stream_begin(later, VV_SEC, &wrong);
  const size_t count = next(old, bytes);
  assert_true(count > BYTES);
  vv_rank_take(&later->core, VV_SEC, VV_RANK_SOCKET_DATA, bytes, count);
  hear(later);
  assert_true(!wrong.ended && later->core.counts.foreign == 1);
  vv_rank_take(&same->core, VV_SEC, VV_RANK_SOCKET_DATA, bytes, count);
  hear(same);
  assert_true(in.ended && !in.failed && in.size_bytes == BYTES && got[0] == 5);
  vv_job_stream_free(old);
  vv_job_stream_free(same);
  vv_job_stream_free(later);
}

static void operations_are_carried_out_in_their_order(void **state) {
  (void)state;
  uint8_t sent[2][BYTES] = {{1}, {2}}, bytes[500];
  struct vv_job_stream *stream = make(0, 1);
  struct vv_job_stream_operation first = operation(0, sent[0]), second = operation(0, sent[1]);
  second.background = true;
  vv_job_stream_begin(stream, VV_SEC, &first);
  vv_job_stream_begin(stream, VV_SEC, &second);
  assert_true(next(stream, bytes) > 0 && next(stream, bytes) == 0);
  assert_true(hear(stream) && first.ended && !second.ended && !stream->news);
  assert_true(next(stream, bytes) > 0);
  assert_false(hear(stream));
  assert_true(second.ended && !second.failed && stream->news && stream->first == NULL);
  vv_job_stream_free(stream);
}

static void what_was_begun_fails_with_the_group(void **state) {
  (void)state;
  uint8_t buffer[BYTES];
  struct vv_job_stream *stream = make(0, 1);
  struct vv_job_stream_operation first = operation(1, buffer), second = operation(1, buffer),
                                 late = operation(1, buffer);
  vv_job_stream_begin(stream, VV_SEC, &first);
  vv_job_stream_begin(stream, VV_SEC, &second);
  vv_rank_lost(&stream->core, VV_SEC, 1, VV_GPDU_DIED);
  hear(stream);
  vv_job_stream_begin(stream, VV_SEC, &late);
  assert_true(first.failed && second.failed && late.failed && first.ended && second.ended && late.ended &&
              stream->over);
  assert_string_equal(stream->problem.code, "rank-died");
  assert_true(stream->problem.rank == 1 && strstr(stream->problem.text, "rank 1 (10.0.0.1)") != NULL);
  vv_job_stream_free(stream);
}

static void ranks_of_the_group_and_of_the_job_are_found(void **state) {
  (void)state;
  struct vv_job_stream *stream = make(0, 1);
  assert_int_equal(vv_job_stream_member(stream, 0), 2);
  assert_int_equal(vv_job_stream_rank_of(stream, 0), 1);
  assert_int_equal(vv_job_stream_rank_of(stream, 1), UINT32_MAX);
  vv_job_stream_free(stream);
}

/* A call that was broken off gives its message to another buffer, wherever its operation is. */
static void a_message_goes_to_another_buffer(void **state) {
  (void)state;
  uint8_t sent[3][BYTES] = {{1}, {2}, {3}}, first_room[BYTES] = {0}, room[BYTES] = {0}, other[BYTES] = {0}, bytes[500];
  struct vv_job_stream *root = make(0, 1), *stream = make(1, 1);
  struct vv_job_stream_operation out[3], in[3];
  for (int i = 0; i < 3; i++) {
    out[i] = operation(0, sent[i]);
    in[i] = operation(0, i == 1 ? room : first_room);
    vv_job_stream_begin(root, VV_SEC, &out[i]);
    vv_job_stream_begin(stream, VV_SEC, &in[i]);
  }
  vv_job_stream_redirect(stream, VV_SEC, &in[1], other, BYTES); /* behind another one */
  for (int i = 0; i < 2; i++) {
    const size_t count = next(root, bytes);
    hear(root);
    vv_rank_take(&stream->core, VV_SEC, VV_RANK_SOCKET_DATA, bytes, count);
    hear(stream);
  }
  assert_true(in[1].ended && other[0] == 2 && room[0] == 0);
  vv_job_stream_redirect(stream, VV_SEC, &in[1], room, BYTES); /* done, and another one is under way */
  assert_true(room[0] == 2);
  vv_job_stream_redirect(stream, VV_SEC, &in[2], other, BYTES); /* under way */
  vv_rank_take(&stream->core, VV_SEC, VV_RANK_SOCKET_DATA, bytes, next(root, bytes));
  hear(stream);
  assert_true(in[2].ended && other[0] == 3 && first_room[0] == 1);
  vv_job_stream_free(root);
  vv_job_stream_free(stream);
}

/* Also where the count of calls begins anew. */
static void test_a_label_tells_whether_its_call_was_made(void **state) {
  (void)state;
  struct vv_job_stream *stream = make(0, 3);
  for (uint32_t before = 0; before < 2; before++) {
    stream->calls = before == 0 ? 5 : 0x800002;
    const uint64_t last = vv_job_stream_label(stream, stream->calls - 1);
    const uint64_t next = vv_job_stream_label(stream, stream->calls);
    assert_true(last != next && last % 2 == 0);
    assert_true(vv_job_stream_is_labelled(stream, last) && vv_job_stream_is_labelled(stream, next));
    assert_false(vv_job_stream_is_labelled(stream, last | 1)); /* a program's own */
    assert_true(vv_job_stream_has_called(stream, last));
    assert_true(vv_job_stream_has_called(stream, vv_job_stream_label(stream, stream->calls - 5)));
    assert_false(vv_job_stream_has_called(stream, next));
    assert_false(vv_job_stream_has_called(stream, vv_job_stream_label(stream, stream->calls + 1000)));
  }
  struct vv_job_stream *other = make(0, 4);
  assert_false(vv_job_stream_is_labelled(other, vv_job_stream_label(stream, 0)));
  vv_job_stream_free(other);
  vv_job_stream_free(stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_label_tells_whether_its_call_was_made),
      cmocka_unit_test(what_comes_late_of_an_older_group_is_not_believed),
      cmocka_unit_test(operations_are_carried_out_in_their_order),
      cmocka_unit_test(what_was_begun_fails_with_the_group),
      cmocka_unit_test(ranks_of_the_group_and_of_the_job_are_found),
      cmocka_unit_test(a_message_goes_to_another_buffer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
