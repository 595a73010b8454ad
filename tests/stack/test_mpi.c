/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of MPI, whose library does what the test wants: what the calls that are defined here say. */
#include "stack/mpi.h"

#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "io/os/watch.h"
#include "stack/flows.h"

#define SENDS_MAX 8

static struct {
  const void *sent[SENDS_MAX]; /* what MPI_Isend was given, */
  uint8_t first[SENDS_MAX];    /* and its first byte then */
  int sends;
  int done; /* of those, in their order */
} library;

static struct vv_error error;

int MPI_Comm_size(MPI_Comm communicator, int *count) {
  (void)communicator;
  *count = 2;
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm communicator, int *rank) {
  (void)communicator;
  *rank = 0;
  return MPI_SUCCESS;
}

/* Request number n, from 1, is a word of such bytes. */
int MPI_Isend(const void *message, int size_bytes, MPI_Datatype type, int peer, int tag, MPI_Comm communicator,
              MPI_Request *request) {
  (void)type, (void)peer, (void)tag, (void)communicator;
  assert_true(library.sends < SENDS_MAX && size_bytes > 0);
  library.sent[library.sends] = message;
  library.first[library.sends] = *(const uint8_t *)message;
  memset(request, ++library.sends, sizeof *request);
  return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  uint8_t number;
  (void)status;
  *done = 1;
  if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  memcpy(&number, request, 1);
  *done = number <= library.done;
  if (*done) *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

static bool always(void *context) {
  (void)context;
  return true;
}

static struct vv_end *open_end(void) {
  static const char *const none[] = {NULL};
  static struct vv_mpi_library any = {"", none, none};
  struct vv_stack_config config = {.stop = {.ask = always}};
  char contact[VV_STACK_CONTACT_MAX];
  memset(&library, 0, sizeof library);
  struct vv_end *end = vv_mpi_open(&any, &config, contact, &error);
  assert_non_null(end);
  assert_int_equal(vv_mpi_link(end, "1/1", VV_NEVER, &error), -1); /* no tag of ours */
  assert_int_equal(vv_mpi_link(end, "1/2", VV_NEVER, &error), 0);
  return end;
}

static void a_send_that_was_broken_off_goes_on(void **state) {
  (void)state;
  uint8_t message[16] = {1};
  struct vv_end *end = open_end();
  assert_int_equal(vv_mpi_send(end, message, sizeof message, &error), VV_GOT_STOPPED);
  library.done = 1;
  assert_int_equal(vv_mpi_send(end, message, sizeof message, &error), VV_GOT_MESSAGE);
  assert_int_equal(library.sends, 1);
  vv_mpi_close(end);
}

/* The last answer of a series, which the other end has, though this one heard of the end before it could be done. */
static void another_message_is_sent_behind_one_that_was_broken_off(void **state) {
  (void)state;
  uint8_t message[16] = {1};
  struct vv_end *end = open_end();
  assert_int_equal(vv_mpi_send(end, message, sizeof message, &error), VV_GOT_STOPPED);
  message[0] = 2; /* in the same buffer */
  assert_int_equal(vv_mpi_send(end, message, sizeof message, &error), VV_GOT_STOPPED);
  assert_int_equal(library.sends, 1); /* not before the one is done */
  library.done = 2;
  assert_int_equal(vv_mpi_send(end, message, sizeof message, &error), VV_GOT_MESSAGE);
  assert_int_equal(library.sends, 2);
  assert_int_equal(library.first[1], 2);
  vv_mpi_close(end);
}

static void a_flow_is_sent_behind_one_that_was_broken_off(void **state) {
  (void)state;
  uint8_t messages[2][16] = {{1}, {2}};
  struct vv_watch_stop stop = {.ask = always};
  struct vv_end *end = open_end();
  struct vv_flow flow = {.end = end, .out = messages[0], .out_bytes = sizeof messages[0]};
  assert_int_equal(vv_mpi_flow(&flow, 1, &stop, &error), VV_GOT_STOPPED);
  flow = (struct vv_flow){.end = end, .out = messages[1], .out_bytes = sizeof messages[1]};
  library.done = 2;
  assert_int_equal(vv_mpi_flow(&flow, 1, &stop, &error), VV_GOT_MESSAGE);
  assert_int_equal(library.sends, 2);
  assert_ptr_equal(library.sent[1], messages[1]);
  vv_mpi_close(end);
}

static void an_end_is_closed_though_what_was_broken_off_is_never_done(void **state) {
  (void)state;
  uint8_t message[16] = {1};
  struct vv_end *end = open_end();
  assert_int_equal(vv_mpi_send(end, message, sizeof message, &error), VV_GOT_STOPPED);
  vv_mpi_close(end);
  vv_mpi_close(NULL);
}

static int begin_to_ring(void **state) {
  (void)state;
  return vv_watch_start(VV_MS, &error);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_send_that_was_broken_off_goes_on),
      cmocka_unit_test(another_message_is_sent_behind_one_that_was_broken_off),
      cmocka_unit_test(a_flow_is_sent_behind_one_that_was_broken_off),
      cmocka_unit_test(an_end_is_closed_though_what_was_broken_off_is_never_done),
  };
  return cmocka_run_group_tests(tests, begin_to_ring, NULL);
}
