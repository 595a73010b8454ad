/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/ethernet/eth.h"
#include "core/ethernet/message.h"
#include "io/os/iface.h"
#include "mpi/coll/gains.h"

#define BPS_OF_MBPS 1e6
#define MBPS_MAX    1e7

static const char *const names[VV_REPORT_ROWS] = {"broadcasts from rank 0", "broadcasts from others", "allgathers",
                                                  "allreduces"};

void vv_report_say(const char *format, ...) {
  char text[800];
  va_list words;
  va_start(words, format);
  vsnprintf(text, sizeof text, format, words);
  va_end(words);
  fprintf(stderr, "vaiven: %s\n", text);
}

void vv_report_broadcast_failed(uint32_t root, uint32_t rank, const char *why) {
  vv_report_say("a broadcast of rank %u, at rank %u: %s", root, rank, why);
}

struct vv_report *vv_report_new(uint32_t ranks) {
  struct vv_report *report = calloc(1, sizeof *report);
  if (report) report->ranks = ranks;
  return report;
}

void vv_report_find_wire(struct vv_report *report, const char *address) {
  char name[VV_IFACE_NAME_MAX];
  struct vv_iface iface;
  struct vv_error ignored; /* then it is not known */
  if (vv_iface_of(address, name, &ignored) != 0 || vv_iface_read(name, &iface, &ignored) != 0) return;
  const char *told = getenv("VAIVEN_LINK_MBPS");
  const double mbps = told ? strtod(told, NULL) : vv_iface_mbps(name);
  if (!(mbps > 0 && mbps <= MBPS_MAX) || iface.mtu_bytes < VV_MESSAGE_MTU_MIN) return;
  report->rate_bps = (uint64_t)(mbps * BPS_OF_MBPS);
  report->mtu_bytes = iface.mtu_bytes;
}

static enum vv_report_row row_of(enum vv_coll_kind kind, bool gives) {
  if (kind == VV_COLL_ALLGATHER) return VV_REPORT_ALLGATHER;
  if (kind == VV_COLL_ALLREDUCE) return VV_REPORT_ALLREDUCE;
  return gives ? VV_REPORT_BROADCAST_GIVEN : VV_REPORT_BROADCAST_TAKEN;
}

/* For how long the link of a rank is taken by what comes to it; 0: not known, or not by this rank. */
static vv_ns wire_ns(const struct vv_report *report, enum vv_report_row row, size_t bytes) {
  uint64_t messages = 1;
  if (report->rate_bps == 0) return 0;
  if (row == VV_REPORT_ALLGATHER)
    bytes /= report->ranks, messages = report->ranks - 1;
  else if (row != VV_REPORT_BROADCAST_TAKEN)
    return 0;
  const struct vv_message_cost cost = vv_message_cost(VV_PATH_GROUP, bytes, report->mtu_bytes);
  return vv_eth_ns(messages * cost.bytes, report->rate_bps);
}

void vv_report_stays(struct vv_report *report, enum vv_coll_kind kind, size_t bytes) {
  const enum vv_report_row row = row_of(kind, false);
  if (bytes == 0 || report->stays[row]) return;
  report->stays[row] = true;
  if (bytes > VV_GAINS_BYTES_MAX)
    vv_report_say("%s of %zu B among %u ranks stay with the MPI: that is too much for one call", names[row], bytes,
                  report->ranks);
  else
    vv_report_say("%s of %zu B among %u ranks stay with the MPI: below %zu B its own messages are quicker", names[row],
                  bytes, report->ranks, vv_gains_from(kind, report->ranks, bytes));
}

static const char *why(enum vv_report_row row) {
  if (row == VV_REPORT_ALLGATHER) return "what each gives is sent once to all";
  if (row == VV_REPORT_ALLREDUCE) return "each reduces a slice, which is sent once to all";
  return "what all get is sent once";
}

void vv_report_went(struct vv_report *report, enum vv_coll_kind kind, bool gives, size_t bytes, vv_ns spent_ns) {
  const enum vv_report_row row = row_of(kind, gives);
  report->calls++;
  report->ns += spent_ns;
  if (!report->goes[row])
    vv_report_say("%s among %u ranks go by %s: %s", names[row], report->ranks, report->route, why(row));
  report->goes[row] = true;
  vv_ledger_add(&report->ledgers[row], bytes, spent_ns, wire_ns(report, row, bytes));
}

void vv_report_begins(struct vv_report *report) {
  if (report->begun++ == 0)
    vv_report_say(VV_REPORT_BEGUN " among %u ranks go by %s: what all get is sent once", report->ranks, report->route);
}

static void say_class(const struct vv_report *report, enum vv_report_row row, const struct vv_ledger_class *of) {
  const struct vv_ledger_forecast *forecast = &of->forecast;
  char foretold[120] = "nothing was foretold";
  if (forecast->basis == VV_LEDGER_LINE)
    snprintf(foretold, sizeof foretold, "%.3f ms foretold by %u other sizes before", vv_ledger_foretold_ns(of) / VV_MS,
             forecast->classes);
  if (forecast->basis == VV_LEDGER_WIRE)
    snprintf(foretold, sizeof foretold, "%.3f ms foretold, the wire's at %g Mb/s", vv_ledger_foretold_ns(of) / VV_MS,
             (double)report->rate_bps / BPS_OF_MBPS);
  vv_report_say("%llu %s among %u ranks, %.0f B each: median %.3f ms at rank 0; %s", (unsigned long long)of->calls,
                names[row], report->ranks, vv_ledger_bytes(of), vv_ledger_median_ns(of) / VV_MS, foretold);
}

void vv_report_end(struct vv_report *report) {
  if (!report) return;
  if (report->calls > 0)
    vv_report_say("%llu collective operations among %u ranks took %.3f ms each at rank 0",
                  (unsigned long long)report->calls, report->ranks, (double)report->ns / (double)report->calls / VV_MS);
  if (report->begun > 0)
    vv_report_say("%llu " VV_REPORT_BEGUN " among %u ranks went by %s", (unsigned long long)report->begun,
                  report->ranks, report->route);
  for (int row = 0; row < VV_REPORT_ROWS; row++) {
    for (int i = 0; i < VV_LEDGER_CLASSES; i++) {
      const struct vv_ledger_class *of = report->ledgers[row].classes[i];
      if (of) say_class(report, (enum vv_report_row)row, of);
    }
    vv_ledger_end(&report->ledgers[row]);
  }
  free(report);
}
