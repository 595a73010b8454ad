/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of operations: once for each kind, then times, and of the wire only what is known of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mpi/coll/gains.h"
#include "mpi/coll/report.h"

static FILE *heard;
static int own_stderr;
static char said[8192];

static struct vv_report *begin(uint32_t ranks) {
  struct vv_report *report = vv_report_new(ranks);
  assert_non_null(report);
  report->route = "multicast";
  heard = tmpfile();
  assert_non_null(heard);
  own_stderr = dup(STDERR_FILENO);
  assert_true(own_stderr >= 0 && dup2(fileno(heard), STDERR_FILENO) >= 0);
  return report;
}

static void end(struct vv_report *report) {
  vv_report_end(report);
  fflush(stderr);
  dup2(own_stderr, STDERR_FILENO);
  close(own_stderr);
  rewind(heard);
  said[fread(said, 1, sizeof said - 1, heard)] = '\0';
  fclose(heard);
}

static void went(struct vv_report *report, enum vv_coll_kind kind, size_t bytes, vv_ns spent_ns, int calls) {
  for (int i = 0; i < calls; i++) vv_report_went(report, kind, false, bytes, spent_ns);
}

static void nothing_is_said_of_no_calls(void **state) {
  (void)state;
  end(begin(8));
  assert_string_equal(said, "");
  vv_report_end(NULL);
}

static void each_kind_is_said_once(void **state) {
  (void)state;
  struct vv_report *report = begin(7);
  for (int i = 0; i < 3; i++) {
    vv_report_stays(report, VV_COLL_ALLGATHER, 64);
    vv_report_stays(report, VV_COLL_ALLREDUCE, 8);
    vv_report_stays(report, VV_COLL_BROADCAST, 0); /* nobody gets anything */
    vv_report_went(report, VV_COLL_BROADCAST, true, 1000, 100 * VV_US);
  }
  end(report);
  assert_string_equal(
      said, "vaiven: allgathers of 64 B among 7 ranks stay with the MPI: below 18724 B its own messages are quicker\n"
            "vaiven: allreduces of 8 B among 7 ranks stay with the MPI: below 100000 B its own messages are quicker\n"
            "vaiven: broadcasts from rank 0 among 7 ranks go by multicast: what all get is sent once\n"
            "vaiven: 3 collective operations among 7 ranks took 0.100 ms each at rank 0\n"
            "vaiven: 3 broadcasts from rank 0 among 7 ranks, 1000 B each: median 0.100 ms at rank 0; nothing was "
            "foretold\n");
}

/* What 8 ranks exchange in a round, and what only more bytes are worth. */
static void little_of_each_goes_where_many_send_at_once(void **state) {
  (void)state;
  assert_true(vv_gains(VV_COLL_ALLGATHER, 8, 8) && vv_gains(VV_COLL_ALLREDUCE, 8, 64));
  assert_true(!vv_gains(VV_COLL_ALLGATHER, 7, 8) && !vv_gains(VV_COLL_ALLREDUCE, 7, 64));
  assert_true(!vv_gains(VV_COLL_ALLGATHER, 33, 8) && !vv_gains(VV_COLL_ALLREDUCE, 8, 2000));
  struct vv_report *report = begin(8);
  vv_report_stays(report, VV_COLL_ALLREDUCE, 8);
  end(report);
  assert_string_equal(
      said, "vaiven: allreduces of 8 B among 8 ranks stay with the MPI: below 64 B its own messages are quicker\n");
}

static void other_sizes_foretell(void **state) {
  (void)state;
  struct vv_report *report = begin(4);
  went(report, VV_COLL_ALLREDUCE, 100000, 9 * VV_MS, 3);
  went(report, VV_COLL_ALLREDUCE, 1000000, 81 * VV_MS, 3);
  went(report, VV_COLL_ALLREDUCE, 2000000, 170 * VV_MS, 1);
  end(report);
  assert_non_null(strstr(said, "vaiven: 1 allreduces among 4 ranks, 2000000 B each: median 170.000 ms at rank 0; "
                               "161.000 ms foretold by 2 other sizes before\n"));
}

/* 1000 B at 100 Mb/s: 16 + 10 bytes of ours, 28 of UDP and IP, 38 of Ethernet more. What one gives takes no wire that
 * it sees, and what all give comes from all others. */
static void the_wire_foretells_what_comes_over_it(void **state) {
  (void)state;
  setenv("VAIVEN_LINK_MBPS", "100", 1);
  struct vv_report *report = begin(5);
  vv_report_find_wire(report, "127.0.0.1");
  report->mtu_bytes = 1500;
  went(report, VV_COLL_BROADCAST, 1000, 100 * VV_US, 1);
  went(report, VV_COLL_ALLGATHER, 5000, 100 * VV_US, 1);
  went(report, VV_COLL_ALLREDUCE, 200000, 100 * VV_US, 1);
  vv_report_went(report, VV_COLL_BROADCAST, true, 1000, 100 * VV_US);
  end(report);
  assert_non_null(strstr(said, "1 broadcasts from others among 5 ranks, 1000 B each: median 0.100 ms at rank 0; "
                               "0.087 ms foretold, the wire's at 100 Mb/s\n"));
  assert_non_null(strstr(said, "1 allgathers among 5 ranks, 5000 B each: median 0.100 ms at rank 0; "
                               "0.349 ms foretold, the wire's at 100 Mb/s\n"));
  assert_non_null(strstr(said, "200000 B each: median 0.100 ms at rank 0; nothing was foretold\n"));
  assert_non_null(strstr(said, "1 broadcasts from rank 0 among 5 ranks, 1000 B each: median 0.100 ms at rank 0; "
                               "nothing was foretold\n"));
}

static void of_a_wire_without_a_rate_nothing_is_known(void **state) {
  (void)state;
  static const char *const rates[] = {"", "0", "-5", "fast", "1e9", "nan", NULL}; /* NULL: loopback has no card */
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    struct vv_report *report = vv_report_new(5);
    if (rates[i])
      setenv("VAIVEN_LINK_MBPS", rates[i], 1);
    else
      unsetenv("VAIVEN_LINK_MBPS");
    vv_report_find_wire(report, "127.0.0.1");
    assert_int_equal(report->rate_bps, 0);
    vv_report_end(report);
  }
  setenv("VAIVEN_LINK_MBPS", "100", 1);
  struct vv_report *report = vv_report_new(5);
  vv_report_find_wire(report, "192.0.2.1"); /* RFC 5737: nobody's */
  assert_int_equal(report->rate_bps, 0);
  vv_report_end(report);
}

static void what_is_begun_is_counted_beside_calls(void **state) {
  (void)state;
  struct vv_report *report = begin(5);
  for (int i = 0; i < 3; i++) vv_report_begins(report);
  end(report);
  assert_string_equal(
      said, "vaiven: broadcasts that are only begun among 5 ranks go by multicast: what all get is sent once\n"
            "vaiven: 3 broadcasts that are only begun among 5 ranks went by multicast\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_said_of_no_calls),
                                     cmocka_unit_test(what_is_begun_is_counted_beside_calls),
                                     cmocka_unit_test(each_kind_is_said_once),
                                     cmocka_unit_test(little_of_each_goes_where_many_send_at_once),
                                     cmocka_unit_test(other_sizes_foretell),
                                     cmocka_unit_test(the_wire_foretells_what_comes_over_it),
                                     cmocka_unit_test(of_a_wire_without_a_rate_nothing_is_known)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
